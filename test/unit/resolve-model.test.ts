// Which model a supervisor uses, how it is reached and with which credentials: what is configured, what the environment
// offers, what runs on this machine.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { loadConfig } from '../../config/load.js';
import { systemClock } from '../../shared/clock.js';
import { openCatalogue } from '../../supervisor/intelligence/model-catalogue.js';
import { requestUrl } from '../../supervisor/intelligence/model-settings.js';
import { probeLocalServer } from '../../supervisor/intelligence/probe-local.js';
import { type ResolvedModel, secretsOf } from '../../supervisor/intelligence/resolve-model.js';

/** The model, or why there is none. */
async function resolved(
  flags: Record<string, string>,
  env: NodeJS.ProcessEnv = {},
): Promise<ResolvedModel | string> {
  const loaded = await loadConfig({ env, cwd: '/', flags });
  if (!loaded.ok) return loaded.problems.map(({ message }) => message).join('; ');
  const opened = await openCatalogue(loaded.config, env, systemClock);
  return opened.ok ? opened.catalogue.turn : opened.message;
}

async function chosen(flags: Record<string, string>, env: NodeJS.ProcessEnv = {}): Promise<ResolvedModel> {
  const model = await resolved(flags, env);
  if (typeof model === 'string') throw new Error(model);
  return model;
}

async function serving(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'secret-env' };
const BEDROCK = { 'intelligence.dialect': 'bedrock', 'intelligence.model': 'eu.anthropic.claude-x-v1:0' };

t.test('a temperature goes to models that take one, and to no other', async (t) => {
  const cases = [
    ['openai', 'gpt-4.1', 0],
    ['openai', 'qwen3:8b', 0],
    ['openai', 'gpt-5-mini', null],
    ['openai', 'o3', null],
    ['openai', 'someone/o4-mini', null],
    ['openai', 'olmo-2', 0],
    ['openai_responses', 'gpt-4.1', 0],
    ['openai_responses', 'someone/gpt-5.1', null],
    ['bedrock', 'amazon.nova-pro-v1:0', 0],
    ['bedrock', 'us.anthropic.claude-x-v1:0', null],
    ['bedrock', 'openai.gpt-oss-120b-1:0', null],
    ['bedrock', 'us.openai.gpt-5.1', null],
    ['bedrock', 'us.deepseek.r1-v1:0', null],
    ['anthropic', 'claude-sonnet', null],
  ] as const;
  for (const [dialect, model, temperature] of cases) {
    const { settings } = await chosen(
      {
        'intelligence.dialect': dialect,
        'intelligence.model': model,
        'intelligence.endpoints': 'http://127.0.0.1:1',
      },
      { AWS_REGION: 'us-east-1', ...KEYS },
    );
    t.equal(settings.temperature, temperature, model);
  }
});

t.test(
  'of two keys in the environment the first kind is used, and what is configured outranks both',
  async (t) => {
    const env = { OPENAI_API_KEY: 'key-of-one-kind', ANTHROPIC_API_KEY: 'key-of-the-other' };
    t.match(await chosen({}, env), {
      settings: { dialect: 'openai' },
      credentials: { token: 'key-of-one-kind' },
    });
    t.match(await chosen({}, { ...env, OPENAI_API_KEY: '' }), {
      settings: { dialect: 'anthropic' },
      credentials: { token: 'key-of-the-other' },
    });
    const builtin = await chosen({ 'intelligence.dialect': 'builtin' }, env);
    t.equal(builtin.settings.dialect, 'builtin');
    t.equal(builtin.credentials.token, undefined);
  },
);

t.test('a server on this machine is asked once, and believed only when it names a model', async (t) => {
  let asked = 0;
  const good = await serving(t, (request, response) => {
    asked += 1;
    t.equal(request.url, '/v1/models');
    response.end('{"data":[{"id":"small"},{"id":"large"}]}');
  });
  t.equal(await probeLocalServer(systemClock, good), 'small');
  t.equal(asked, 1);
  for (const body of ['', '[]', '{"data":[]}', '{"data":[{"id":7}]}', '<html>'])
    t.equal(await probeLocalServer(systemClock, await serving(t, (_, response) => response.end(body))), null);
  const refusing = await serving(t, (_, response) => {
    response.statusCode = 500;
    response.end('{"data":[{"id":"small"}]}');
  });
  t.equal(await probeLocalServer(systemClock, refusing), null);
  const started = process.hrtime.bigint();
  t.equal(await probeLocalServer(systemClock, await serving(t, () => undefined)), null);
  t.equal(await probeLocalServer(systemClock, 'http://127.0.0.1:1'), null);
  t.ok(process.hrtime.bigint() - started < 2_000_000_000n, 'one that is silent or absent holds nobody up');
});

t.test('a responses server is reached by its base, its version or its whole URL', async (t) => {
  const whole = 'https://h.example/v1/responses';
  for (const base of ['https://h.example', 'https://h.example/v1/', whole])
    t.equal(requestUrl('openai_responses', base), whole, base);
  t.match(await resolved({ 'intelligence.dialect': 'openai_responses', 'intelligence.model': 'gpt-5.1' }), {
    settings: { url: 'https://api.openai.com/v1/responses', temperature: null, structured_output: 'auto' },
  });
});

t.test('Bedrock is reached in its region, the model in the path', async (t) => {
  const path = '/model/eu.anthropic.claude-x-v1%3A0/converse-stream';
  t.match(await resolved(BEDROCK, { ...KEYS, AWS_REGION: 'eu-central-1' }), {
    settings: { url: `https://bedrock-runtime.eu-central-1.amazonaws.com${path}`, temperature: null },
    credentials: {
      aws: { region: 'eu-central-1', access_key_id: 'AKIDENV', secret_access_key: 'secret-env' },
    },
    notice: null,
  });
  t.match(await resolved(BEDROCK, { ...KEYS, AWS_DEFAULT_REGION: 'cn-north-1' }), {
    settings: { url: `https://bedrock-runtime.cn-north-1.amazonaws.com.cn${path}` },
  });
  const endpoint = 'https://vpce-1.bedrock-runtime.us-west-2.vpce.amazonaws.com';
  t.match(
    await resolved(
      { ...BEDROCK, 'intelligence.endpoints': `${endpoint}/model/any/converse-stream` },
      { ...KEYS, AWS_REGION: 'eu-central-1' },
    ),
    { settings: { url: `${endpoint}${path}` }, credentials: { aws: { region: 'us-west-2' } } },
    'the region of the endpoint is the one that is signed for',
  );
  const profile = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x';
  t.match(
    await resolved({ ...BEDROCK, 'intelligence.model': profile }, { ...KEYS, AWS_REGION: 'us-east-1' }),
    {
      settings: {
        temperature: null,
        url: /\/model\/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fx\/converse-stream$/,
      },
    },
  );
});

t.test('keys of the configuration win whole over those of the environment, and all are masked', async (t) => {
  const model = await chosen(
    {
      'intelligence.model': 'm',
      'intelligence.auth.kind': 'aws',
      'intelligence.auth.region': 'ap-south-1',
      'intelligence.auth.access_key_id': '{{secret:MY_ID}}',
      'intelligence.auth.secret_access_key': '{{secret:MY_SECRET}}',
    },
    { ...KEYS, AWS_SESSION_TOKEN: 'session-env', MY_ID: 'AKIDMINE', MY_SECRET: 'secret-mine' },
  );
  t.equal(model.settings.dialect, 'bedrock', 'keys alone say so');
  t.strictSame(model.credentials.aws, {
    region: 'ap-south-1',
    access_key_id: 'AKIDMINE',
    secret_access_key: 'secret-mine',
  });
  const session = await chosen(BEDROCK, { ...KEYS, AWS_REGION: 'x-1', AWS_SESSION_TOKEN: 'session-env' });
  t.strictSame(secretsOf(session.credentials), ['AKIDENV', 'secret-env', 'session-env']);
  t.notMatch(JSON.stringify(session.settings), 'env');
});

t.test('a token is sent instead of keys, and a region is then needed only for the address', async (t) => {
  const token = { ...BEDROCK, 'intelligence.token': '{{secret:T}}' };
  const model = await chosen(
    { ...token, 'intelligence.endpoints': 'http://127.0.0.1:1' },
    { T: 'tok', ...KEYS },
  );
  t.match(model, { credentials: { token: 'tok' } });
  t.notOk('aws' in model.credentials);
  t.match(await resolved(token, { T: 'tok' }), /needs a region/);
});

t.test('what is missing is said, without any value', async (t) => {
  t.match(await resolved({ 'intelligence.dialect': 'bedrock' }, KEYS), /needs the id of a model/);
  t.match(await resolved(BEDROCK, KEYS), /needs a region; set it, or AWS_REGION/);
  const [east, west] = ['us-east-1', 'us-west-2'].map(
    (region) => `https://bedrock-runtime.${region}.amazonaws.com`,
  );
  t.match(
    await resolved({ ...BEDROCK, 'intelligence.endpoints': `${east},${west}` }, KEYS),
    /signed for one region \(us-east-1\)/,
  );
  t.match(await resolved(BEDROCK, { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'x' }), /needs keys/);
  t.match(await resolved(BEDROCK, { ...KEYS, AWS_REGION: 'evil.example/' }), /expected a region/);
  const odd = await resolved(BEDROCK, { ...KEYS, AWS_REGION: 'x-1', AWS_SESSION_TOKEN: 'canary\nvalue' });
  t.match(odd, /characters that no key has/);
  t.notMatch(odd, 'canary');
});

t.test('keys that cannot be meant are refused at load', async (t) => {
  const id = { 'intelligence.auth.access_key_id': '{{secret:A}}' };
  const env = { A: 'AKIDX', T: 'tok' };
  t.match(await resolved({ ...BEDROCK, ...id }, env), /belong together/);
  t.match(
    await resolved({ ...BEDROCK, 'intelligence.auth.session_token': '{{secret:A}}' }, env),
    /belongs to an access_key_id/,
  );
  t.match(
    await resolved({ 'intelligence.dialect': 'openai', 'intelligence.auth.kind': 'aws' }, env),
    /only the dialect bedrock/,
  );
  t.match(
    await resolved(
      { ...BEDROCK, 'intelligence.token': '{{secret:T}}', 'intelligence.auth.kind': 'aws' },
      env,
    ),
    /keep one of the two/,
  );
  t.match(
    await resolved({ ...BEDROCK, 'intelligence.auth.secret_access_key': 'plain-text' }, env),
    /a credential must not stand here/,
  );
});
