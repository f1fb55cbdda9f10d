// No secret of the configuration reaches a child, a command line, a log, the journal, an error, or a model.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startFakeModel } from '../fakes/fake-model-server.js';
import { AWS_ENV, scratch, startJob } from '../fakes/job.js';
import { processesWith } from '../fakes/processes.js';
import { startTurnd } from '../fakes/run-turnd.js';

const TOKEN = 'canary-token-4711-abcdef';
const HEADER = 'canary-header-0815-abcdef';

/** Every file of a folder that holds the text. */
function filesWith(dir: string, text: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}

t.test('secrets of the configuration stay with the one who needs them', async (t) => {
  const home = scratch(t);
  writeFileSync(join(home, 'token'), `${TOKEN}\n`, { mode: 0o600 });
  let release: () => void = () => undefined;
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = await startFakeModel({
    script: [
      {
        calls: [
          {
            name: 'exec_command',
            arguments: { command: 'env | sort; cat /proc/$PPID/environ; cat ../token' },
          },
          {
            name: 'exec_command',
            arguments: { command: `cat ${join(home, 'token')}; tr '\\0' '\\n' < /proc/self/environ` },
          },
          { name: 'read_file', arguments: { path: join(home, 'token') } },
        ],
      },
      { hold, status: 401, body: { error: { message: `invalid key ${TOKEN} for ${HEADER}` } } },
    ],
  });
  t.teardown(() => model.close());
  writeFileSync(
    join(home, 'turnd.yaml'),
    `intelligence:
  endpoints: ${model.url}
  model: scripted
  token: "{{secret-file:${join(home, 'token')}}}"
  headers:
    x-api-key: "{{secret:TEST_HEADER}}"
observability:
  log_level: debug
`,
  );
  const stateDir = join(home, 'state');
  const job = startTurnd(
    [
      '--prompt',
      'x',
      '--config',
      join(home, 'turnd.yaml'),
      '--state-dir',
      stateDir,
      '--output',
      'stream-json',
    ],
    { cwd: scratch(t), env: { TEST_HEADER: HEADER } },
  );
  await model.waitForRequest(2);
  const children = [TOKEN, HEADER].flatMap(processesWith).filter(({ pid }) => pid !== job.child.pid);
  t.same(children, [], 'no child has it in its environment or command line');
  release();
  const finished = await job.finished;
  t.equal(finished.code, 4, finished.stderr);

  t.equal(model.requests[0]?.headers['authorization'], `Bearer ${TOKEN}`, 'the model server gets its token');
  t.equal(model.requests[0]?.headers['x-api-key'], HEADER);
  for (const secret of [TOKEN, HEADER]) {
    t.notMatch(finished.stdout, secret, 'stdout');
    t.notMatch(finished.stderr, secret, 'stderr, debug logs included');
    for (const request of model.requests) t.notMatch(request.bodyText, secret, 'request bodies');
    t.same(filesWith(stateDir, secret), [], 'the state directory');
  }
});

t.test('credentials that a model writes into URLs are neither kept nor logged', async (t) => {
  const url = 'http://user:canary-userinfo@127.0.0.1:1/?token=canary-query-123';
  const job = await startJob(
    t,
    [
      {
        calls: [
          { name: 'web_fetch', arguments: { url } },
          { name: 'exec_command', arguments: { command: `echo '${url}'` } },
        ],
      },
      { text: 'I tried.' },
      { text: 'again' },
    ],
    { env: { TURND_OBSERVABILITY_LOG_LEVEL: 'debug' } },
  );
  const finished = await job.finished;
  t.equal(finished.code, 0, finished.stderr);
  t.match(job.model.requests[1]?.bodyText, 'canary-query-123', 'the command ran as it was written');
  for (const secret of ['canary-userinfo', 'canary-query-123']) {
    t.notMatch(finished.stderr, secret);
    t.same(filesWith(job.stateDir, secret), [], 'the state directory');
  }
});

t.test('a child gets an allow-listed environment and no terminal', async (t) => {
  const job = await startJob(
    t,
    [{ calls: [{ name: 'exec_command', arguments: { command: 'env; tty' } }] }, { text: 'ok' }],
    { env: { SOME_API_KEY: 'canary-in-environment', NODE_OPTIONS: '--no-warnings' } },
  );
  const finished = await job.finished;
  t.equal(finished.code, 0, finished.stderr);
  const body = job.model.requests[1]?.bodyText ?? '';
  t.notMatch(body, 'canary-in-environment');
  t.notMatch(body, 'NODE_OPTIONS');
  t.match(body, 'GIT_PAGER=');
  t.match(body, 'not a tty');
});

t.test('keys for AWS sign requests and are seen nowhere', async (t) => {
  const look = { command: 'env | sort; cat /proc/$PPID/environ; cat /proc/self/environ' };
  const said = `denied for ${AWS_ENV.AWS_SECRET_ACCESS_KEY} ${AWS_ENV.AWS_SESSION_TOKEN}`;
  const job = await startJob(
    t,
    [
      { calls: [{ name: 'exec_command', arguments: look }] },
      { calls: [{ name: 'exec_command', arguments: { command: `echo ${said}` } }] },
      { status: 403, body: { message: said } },
    ],
    {
      dialect: 'bedrock',
      args: ['--output', 'stream-json'],
      env: { TURND_OBSERVABILITY_LOG_LEVEL: 'debug' },
    },
  );
  const finished = await job.finished;
  t.equal(finished.code, 4, finished.stderr);
  const [first] = job.model.requests;
  t.match(String(first?.headers.authorization), /^AWS4-HMAC-SHA256 Credential=AKIDJOBCANARY\//);
  t.equal(first?.headers['x-amz-security-token'], AWS_ENV.AWS_SESSION_TOKEN);
  for (const secret of [AWS_ENV.AWS_SECRET_ACCESS_KEY, AWS_ENV.AWS_SESSION_TOKEN]) {
    t.notMatch(finished.stdout, secret, 'stdout');
    t.notMatch(finished.stderr, secret, 'stderr, debug logs included');
    t.notMatch(job.model.requests[1]?.bodyText, secret, 'what a command sees');
    t.same(filesWith(job.stateDir, secret), [], 'the state directory');
  }
  t.notMatch(first?.headers.authorization, AWS_ENV.AWS_SECRET_ACCESS_KEY);
});
