// Secrets of the configuration: found where they should be, refused where they must not stand, printed nowhere.
// And the three `turnd config` verbs, which show a configuration without ever showing a secret.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { format, inspect } from 'node:util';
import { serialize } from 'node:v8';
import t, { type Test } from 'tap';
import { type Loaded, type LoadInput, loadConfig } from '../../config/load.js';
import { formatProblem } from '../../config/problem.js';
import { Secret } from '../../config/secrets.js';
import { projectRoot } from '../../schemas/generate.js';
import { runConfigCheck } from '../../supervisor/cli/config-check.js';
import { runConfigSchema } from '../../supervisor/cli/config-schema.js';
import { runConfigShow } from '../../supervisor/cli/config-show.js';

const CANARY = 'sk-canary-4711-abcdefghijkl';

function load(test: Test, yaml: string, more: Partial<LoadInput> = {}): Promise<Loaded> {
  return loadConfig({ env: {}, cwd: test.testdir({ 'turnd.yaml': yaml }), ...more });
}

function told(loaded: Loaded): string {
  return loaded.ok ? '' : loaded.problems.map(formatProblem).join('\n');
}

t.test('a secret comes from the credentials of the service, else from the environment', async (t) => {
  const yaml = 'intelligence: {token: "{{secret:MODEL_KEY}}"}';
  const credentials = t.testdir({ cred: { MODEL_KEY: `${CANARY}\n` } });
  const env = { MODEL_KEY: 'from-environment' };
  const reveal = async (more: Partial<LoadInput>): Promise<string | undefined> => {
    const cwd = join(credentials, 'work');
    const loaded = await loadConfig({
      env,
      cwd,
      flags: { 'intelligence.token': '{{ secret:MODEL_KEY }}' },
      ...more,
    });
    return loaded.ok ? loaded.config.intelligence.token?.reveal() : told(loaded);
  };
  t.equal(await reveal({}), 'from-environment');
  chmodSync(join(credentials, 'cred', 'MODEL_KEY'), 0o600);
  t.equal(await reveal({ env: { ...env, CREDENTIALS_DIRECTORY: join(credentials, 'cred') } }), CANARY);
  t.equal(await reveal({ env: { ...env, CREDENTIALS_DIRECTORY: credentials } }), 'from-environment');
  const missing = await load(t, yaml, { env: { MODEL_KEY: '' } });
  t.match(
    told(missing),
    /turnd\.yaml:1: intelligence\.token: \{\{secret:MODEL_KEY\}\} has no value: set the environment/,
  );
  const climbing = { 'intelligence.token': '{{secret:../../etc/passwd}}' };
  t.match(told(await load(t, '', { flags: climbing })), /is no name/);
});

t.test('a secret file gives its text without the last line end', async (t) => {
  const dir = t.testdir({ 'turnd.yaml': 'intelligence: {token: "{{secret-file:key}}"}', key: `${CANARY}\n` });
  chmodSync(join(dir, 'key'), 0o600);
  const loaded = await loadConfig({ env: {}, cwd: dir });
  t.ok(loaded.ok, told(loaded));
  if (!loaded.ok) return;
  t.equal(loaded.config.intelligence.token?.reveal(), CANARY);
  t.same(loaded.secrets.values, [CANARY]);
  t.same(loaded.warnings, []);
});

t.test('a secret file that others can read is warned of; one that is none is refused', async (t) => {
  const dir = t.testdir({ 'turnd.yaml': 'intelligence: {token: "{{secret-file:key}}"}', key: CANARY });
  chmodSync(join(dir, 'key'), 0o644);
  const open = await loadConfig({ env: {}, cwd: dir });
  t.match(open.ok && open.warnings.map(formatProblem), [
    /turnd\.yaml:1: intelligence\.token: .*key can be read or written/,
  ]);
  const refused = async (content: string): Promise<string> => {
    writeFileSync(join(dir, 'key'), content);
    return told(await loadConfig({ env: {}, cwd: dir }));
  };
  t.match(await refused(''), /is empty/);
  t.match(await refused(`${CANARY}\nand more`), /line breaks/);
  t.match(await refused('x'.repeat(70_000)), /too large for a secret/);
  t.notMatch(await refused(`${CANARY}\nand more`), /canary/);
  const file = async (name: string): Promise<string> =>
    told(await loadConfig({ env: {}, cwd: dir, flags: { 'intelligence.token': `{{secret-file:${name}}}` } }));
  t.match(await file('none'), /does not exist/);
  t.match(await file('.'), /not a regular file/);
});

t.test('a credential written inline is refused wherever it stands, and never repeated', async (t) => {
  const inline: Record<string, Record<string, unknown>> = {
    token: { intelligence: { token: CANARY } },
    number: { intelligence: { token: 4711 } },
    authorization: { intelligence: { headers: { Authorization: `Bearer ${CANARY}` } } },
    'api key': { intelligence: { headers: { 'X-Api-Key': 'canary' } } },
    'other header': { intelligence: { headers: { 'X-Other': `Bearer canary` } } },
    'beside a reference': { intelligence: { headers: { 'X-Api-Key': `${CANARY}{{secret:A}}` } } },
    'password beside a reference': {
      intelligence: { headers: { 'X-Api-Key': 'my password is canary {{secret:A}}' } },
    },
    userinfo: { intelligence: { endpoints: `https://me:${CANARY}@host/v1` } },
    'user alone': { intelligence: { endpoints: 'https://canary@host/v1' } },
    query: { intelligence: { endpoints: `https://host/v1?api_key=${CANARY}` } },
    model: { intelligence: { model: CANARY } },
    instruction: { agent: { instruction: `use ${CANARY} to log in` } },
    'secret in a prompt': { agent: { instruction: 'use {{secret:A}} to log in' } },
  };
  for (const [name, value] of Object.entries(inline)) {
    const loaded = await load(t, JSON.stringify(value), { env: { A: 'resolved-canary' } });
    t.equal(loaded.ok, false, name);
    t.notMatch(told(loaded), /canary|4711/, `${name}: ${told(loaded)}`);
  }
  const env = { TURND_INTELLIGENCE_TOKEN: CANARY };
  t.match(
    told(await load(t, '', { env })),
    /\$TURND_INTELLIGENCE_TOKEN: intelligence\.token: a credential must not/,
  );
  const broken = [
    `intelligence:\n  token: "${CANARY}\n  x: [${CANARY}`,
    `intelligence:\n  token: !${CANARY} x`,
    `intelligence:\n  token: *${CANARY}`,
    `intelligence:\n  token: @${CANARY}`,
    `intelligence:\n  token: "\\q${CANARY}"`,
    `intelligence:\n  token: a: ${CANARY}: b`,
  ];
  for (const yaml of broken) {
    const text = told(await load(t, yaml));
    t.match(text, /turnd\.yaml:[23]: /, yaml);
    t.notMatch(text, /canary/, yaml);
  }
});

t.test('a header may carry a scheme beside its secret, and plain headers stay plain', async (t) => {
  const yaml = `
intelligence:
  headers:
    Authorization: "Bearer {{secret:A}}"
    X-Region: eu
    X-Sign: "{{secret:A}}"
`;
  const loaded = await load(t, yaml, { env: { A: CANARY } });
  t.ok(loaded.ok, told(loaded));
  if (!loaded.ok) return;
  const { headers } = loaded.config.intelligence;
  t.equal(headers['X-Region'], 'eu');
  const authorization = headers.Authorization;
  t.ok(authorization instanceof Secret);
  t.equal(authorization instanceof Secret && authorization.reveal(), `Bearer ${CANARY}`);
  t.same(loaded.secrets.values, [CANARY], 'the value is masked, with or without its scheme');
});

t.test('headers that turnd sets itself, stand twice or are none are told with their own line', async (t) => {
  const yaml =
    'intelligence:\n  headers:\n    Host: a\n    X-A: b\n    x-a: c\n    "a b": c\n    X-A: d\n    X-N: 5\n    X-L: "a\\nb"';
  t.match(
    told(await load(t, yaml))
      .split('\n')
      .map((line) => line.replace(/^.*turnd\.yaml/, '')),
    [
      ':3: intelligence.headers.Host: is set by turnd itself; remove it',
      ':5: intelligence.headers.x-a: stands twice (case does not count)',
      ':6: intelligence.headers.a b: is no header name',
      ':7: intelligence.headers.X-A: stands twice',
      ':8: intelligence.headers.X-N: expected text',
      ':9: intelligence.headers.X-L: holds characters that no header carries',
    ],
  );
  const env = { TURND_INTELLIGENCE_HEADERS: '{"X-A": "b"}' };
  const loaded = await load(t, '', { env });
  t.same(loaded.ok && loaded.config.intelligence.headers, { 'X-A': 'b' });
});

t.test('a secret shows as *** however it is printed, serialised or inspected', async (t) => {
  const env = { A: CANARY };
  const loaded = await load(t, 'intelligence: {token: "{{secret:A}}", headers: {X-Key: "{{secret:A}}"}}', {
    env,
  });
  t.ok(loaded.ok, told(loaded));
  if (!loaded.ok) return;
  const secret = loaded.config.intelligence.token;
  t.equal(`${secret} ${secret?.toString()}`, '*** ***');
  t.equal(
    `${JSON.stringify([secret])} ${inspect(secret)} ${format('%s %o %j', secret, secret, secret)}`.includes(
      'canary',
    ),
    false,
  );
  for (const whole of [loaded, loaded.config, loaded.secrets]) {
    t.notMatch(JSON.stringify(whole), /canary/);
    t.notMatch(inspect(whole, { depth: 20, showHidden: true, getters: false }), /canary/);
  }
  t.notMatch(serialize(loaded.config).toString('latin1'), /canary/);
  t.equal(Object.values(secret ?? {}).includes(CANARY), false);
});

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  verb: typeof runConfigCheck,
  cwd: string,
  env: NodeJS.ProcessEnv,
  args: { config?: string } = {},
): Promise<Run> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await verb({ stdout, stderr, env, cwd }, args);
  const text = (stream: PassThrough): string => String(stream.read() ?? '');
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

const SHOWN = `
intelligence: {token: "{{secret:A}}", endpoints: "https://host/v1", headers: {X-Key: "Key {{secret:A}}", X-B: 'a: "b" #c'}}
limits: {run: {deadline: 90m}, file: 3MB}
security: {web: {allow_private: [10.0.0.0/8, host.internal]}}
agent: {instruction: "line one\\nline: two # three"}
`;

t.test(
  'config check says what is wrong, one line a problem, and exits 2; else what was loaded, and 0',
  async (t) => {
    const cwd = t.testdir({ 'turnd.yaml': SHOWN, 'bad.yaml': 'agnet: 1\nlimits: {pong: x}' });
    const fine = await run(runConfigCheck, cwd, { A: CANARY });
    t.match(fine, { code: 0, stderr: '' });
    t.match(
      fine.stdout,
      /turnd\.yaml: good; 7 keys from the file, 0 from the environment, \d+ by default, 1 secrets/,
    );
    const bad = await run(runConfigCheck, cwd, {}, { config: 'bad.yaml' });
    t.match(bad, { code: 2, stdout: '' });
    t.match(bad.stderr.trim().split('\n'), [
      /bad\.yaml:1: agnet: unknown key \(did you mean agent\?\)$/,
      /bad\.yaml:2: limits\.pong: expected a duration/,
    ]);
    t.match(await run(runConfigCheck, t.testdir({}), {}), { code: 0, stdout: /no file/ });
  },
);

t.test('config show prints what holds, loadable again, with sources and without secrets', async (t) => {
  const cwd = t.testdir({ 'turnd.yaml': SHOWN });
  const env = { A: CANARY, TURND_LIMITS_RUN_STEPS: '7' };
  const shown = await run(runConfigShow, cwd, env);
  t.equal(shown.code, 0);
  t.notMatch(shown.stdout, /canary/);
  t.match(shown.stdout, /^ {4}deadline: 90m {2}# file$/m);
  t.match(shown.stdout, /^ {4}steps: 7 {2}# env$/m);
  t.match(shown.stdout, /^ {4}tokens: 2000000 {2}# default$/m);
  t.match(shown.stdout, /token: "\{\{secret:A\}\}"/);
  writeFileSync(join(cwd, 'again.yaml'), shown.stdout);
  const [first, second] = [
    await loadConfig({ env, cwd }),
    await loadConfig({ env: { A: CANARY }, cwd, file: 'again.yaml' }),
  ];
  t.ok(second.ok, told(second));
  t.same(second.ok && second.config, first.ok && first.config);
  t.match(await run(runConfigShow, cwd, {}), { code: 2, stdout: '', stderr: /has no value/ });
});

t.test('config schema prints the generated schema', async (t) => {
  const stdout = new PassThrough();
  let printed = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  t.equal(await runConfigSchema({ stdout }), 0);
  const root = projectRoot(fileURLToPath(import.meta.url));
  t.equal(printed, readFileSync(join(root, 'schemas', 'config.json'), 'utf8'));
});
