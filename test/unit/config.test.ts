// The configuration loader: precedence, units, problems with their places, and the ranges of every key.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { DEFAULTS } from '../../config/defaults.js';
import { type Loaded, type LoadInput, loadConfig } from '../../config/load.js';
import { formatProblem } from '../../config/problem.js';
import { CONFIG, environmentName, leavesOf } from '../../config/schema.js';
import { projectRoot } from '../../schemas/generate.js';

type Good = Extract<Loaded, { ok: true }>;

/** Loads one YAML text from a folder of its own. */
function load(test: Test, yaml: string, more: Partial<LoadInput> = {}): Promise<Loaded> {
  return loadConfig({ env: {}, cwd: test.testdir({ 'turnd.yaml': yaml }), file: 'turnd.yaml', ...more });
}

async function good(loading: Promise<Loaded>): Promise<Good> {
  const loaded = await loading;
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded;
}

/** Problems as they are printed, without the folder of the test. */
async function bad(loading: Promise<Loaded>): Promise<string[]> {
  const loaded = await loading;
  if (loaded.ok) return [];
  return loaded.problems.map((one) => formatProblem(one).replace(/^\/.*\/turnd\.yaml/, 'turnd.yaml'));
}

function defaultOf(path: string, unit: string): unknown {
  const keys = `${path}${unit}`.split('.');
  return keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], DEFAULTS);
}

t.test('without file, environment and flags the defaults hold', async (t) => {
  const loaded = await good(loadConfig({ env: {}, cwd: t.testdir({}) }));
  t.same(loaded.config, DEFAULTS);
  t.equal(loaded.file, null);
  t.same(new Set(loaded.sources.values()), new Set(['default']));
  t.ok(Object.isFrozen(loaded.config) && Object.isFrozen(loaded.config.limits.run));
  t.ok(Object.isFrozen(loaded.config.security.web.allow_private));
});

t.test('every default can be written in a file and then means the same', async (t) => {
  for (const { path, leaf } of leavesOf(CONFIG)) {
    const value = defaultOf(path, leaf.unit);
    const keys = path.split('.');
    const yaml = keys.map((key, depth) => `${'  '.repeat(depth)}${key}:`).join('\n');
    const loaded = await good(load(t, `${yaml} ${leaf.show(value)}`));
    t.same(loaded.config, DEFAULTS, path);
    t.equal(loaded.sources.get(path), 'file', path);
  }
});

t.test(
  'flags win over the environment, which wins over the file, which wins over the defaults',
  async (t) => {
    const yaml = 'limits:\n  run: {steps: 1, tokens: 2}\nagent: {name: from-file}';
    const loaded = await good(
      load(t, yaml, {
        env: { TURND_LIMITS_RUN_STEPS: '10', TURND_AGENT_NAME: 'from-env', TURND_LIMITS_PONG: '' },
        flags: { 'limits.run.steps': '100', 'limits.run.deadline': undefined },
      }),
    );
    t.equal(loaded.config.limits.run.steps, 100);
    t.equal(loaded.config.agent.name, 'from-env');
    t.equal(loaded.config.limits.run.tokens, 2);
    t.equal(loaded.config.limits.pong_ms, DEFAULTS.limits.pong_ms, 'an empty variable counts as unset');
    const source = (path: string): string | undefined => loaded.sources.get(path);
    t.same(['limits.run.steps', 'agent.name', 'limits.run.tokens', 'limits.run.deadline'].map(source), [
      'flag',
      'env',
      'file',
      'default',
    ]);
  },
);

t.test('the named file is read, else $TURND_CONFIG, else ./turnd.yaml', async (t) => {
  const named = (name: string): string => `agent: {name: ${name}}`;
  const cwd = t.testdir({ 'turnd.yaml': named('here'), 'a.yaml': named('a'), 'b.yaml': named('b') });
  const name = async (input: Partial<LoadInput>): Promise<string> =>
    (await good(loadConfig({ cwd, env: {}, ...input }))).config.agent.name;
  t.equal(await name({}), 'here');
  t.equal(await name({ env: { TURND_CONFIG: 'a.yaml' } }), 'a');
  t.equal(await name({ env: { TURND_CONFIG: 'a.yaml' }, file: 'b.yaml' }), 'b');
  t.match(await bad(loadConfig({ cwd, env: {}, file: 'c.yaml' })), [/c\.yaml: there is no such file/]);
  t.match(await bad(loadConfig({ cwd, env: { TURND_CONFIG: 'c.yaml' } })), [
    /c\.yaml: there is no such file/,
  ]);
  t.match(await bad(loadConfig({ cwd, env: {}, file: '.' })), [/cannot be read: EISDIR/]);
  const pipe = join(cwd, 'pipe');
  mkdirSync(pipe);
  execFileSync('mkfifo', [join(pipe, 'turnd.yaml')]);
  t.match(await bad(loadConfig({ cwd: pipe, env: {} })), [/turnd\.yaml: is not a regular file/]);
});

t.test('all problems are told at once, each with its line, its path and the nearest key', async (t) => {
  const yaml = `
agnet:
  name: x
agent:
  max_parallel_turns: 0
limits:
  run:
    stesp: 4
    tokens: 1e30
    deadline: -5
  steps: 3
  exec: 3
  model:
    retries: .nan
intelligence:
  dialect: opena
security:
  web:
    allow_private: [10.0.0.0/33]
`;
  const env = { TURND_AGENT_NMAE: 'x', TURND_AGENT_PORT: '1', TURND_LIMITS_FILE: 'big' };
  t.same(await bad(load(t, yaml, { env, flags: { 'limits.run.steps': 'many' } })), [
    'turnd.yaml:2: agnet: unknown key (did you mean agent?)',
    'turnd.yaml:5: agent.max_parallel_turns: is too small: expected a whole number from 1 to 256',
    'turnd.yaml:8: limits.run.stesp: unknown key (did you mean limits.run.steps?)',
    'turnd.yaml:9: limits.run.tokens: is too large: expected a whole number from 1 to 10000000000',
    'turnd.yaml:10: limits.run.deadline: expected a duration such as 500ms, 90s, 10m or 1h (a bare number counts seconds)',
    'turnd.yaml:11: limits.steps: unknown key (did you mean limits.run.steps?)',
    'turnd.yaml:12: limits.exec: expected a mapping of keys',
    'turnd.yaml:14: limits.model.retries: expected a whole number from 0 to 100',
    'turnd.yaml:16: intelligence.dialect: expected one of openai, openai_responses, anthropic, bedrock, builtin (did you mean openai?)',
    'turnd.yaml:19: security.web.allow_private: expected a host name, an address or a range such as 10.0.0.0/8',
    '$TURND_AGENT_NMAE: unknown setting (did you mean TURND_AGENT_NAME?)',
    'flag: limits.run.steps: expected a whole number from 1 to 100000',
    '$TURND_LIMITS_FILE: limits.file: expected a size such as 64KB, 10MB or 1GB (a bare number counts bytes)',
  ]);
});

t.test('a value that a stronger source hides must be right all the same', async (t) => {
  const flags = { 'limits.run.steps': '5' };
  t.match(await bad(load(t, 'limits: {run: {steps: lots}}', { flags })), [
    /:1: limits\.run\.steps: expected/,
  ]);
});

t.test(
  'broken YAML, keys that stand twice and texts that are no text are told with their line',
  async (t) => {
    t.match(await bad(load(t, 'agent:\n  name: a\n  name: b')), ['turnd.yaml:3: agent.name: stands twice']);
    t.match(await bad(load(t, 'agent:\n\tname: a')), [/^turnd\.yaml:2: is not valid here/]);
    t.match(await bad(load(t, 'agent: {name: a')), [/^turnd\.yaml:1: is not valid here/]);
    t.match(await bad(load(t, '- 1\n- 2')), ['turnd.yaml:1: expected a mapping of keys']);
    t.match(await bad(load(t, 'a: 1\n---\nb: 2')), [/is not valid here/]);
    const cwd = t.testdir({ 'turnd.yaml': '' });
    writeFileSync(join(cwd, 'turnd.yaml'), Buffer.from([0x61, 0x3a, 0xff, 0xfe]));
    t.match(await bad(loadConfig({ env: {}, cwd })), ['turnd.yaml: is not UTF-8 text']);
    writeFileSync(join(cwd, 'turnd.yaml'), '#'.repeat(1_100_000));
    t.match(await bad(loadConfig({ env: {}, cwd })), [/larger than 1 MB/]);
  },
);

t.test('texts that would grow or nest without bound are refused at once', async (t) => {
  const levels = Array.from({ length: 9 }, (_, n) => `  l${n}: &a${n + 1} [${`*a${n},`.repeat(10)}]`);
  t.match((await bad(load(t, `agent:\n${levels.join('\n')}`)))[0], /:2: is not valid here: aliases are/);
  t.match(await bad(load(t, 'agent: &a {name: *a}')), [/aliases are not supported/]);
  t.match(await bad(load(t, `agent: ${'['.repeat(20_000)}`)), [/nests its values too deeply|not valid here/]);
  const many = await bad(load(t, Array.from({ length: 5000 }, (_, n) => `k${n}: 1`).join('\n')));
  t.equal(many.length, 101);
  t.match(many.at(-1), /and 4900 more problems/);
});

t.test('an empty file, an empty section and an explicit null for an absent key are fine', async (t) => {
  t.same((await good(load(t, ''))).config, DEFAULTS);
  t.same((await good(load(t, '# nothing\nlimits:\nagent:\n'))).config, DEFAULTS);
  t.same((await good(load(t, 'intelligence: {model: null}'))).config, DEFAULTS);
  t.match(await bad(load(t, 'limits: {pong: }')), [
    'turnd.yaml:1: limits.pong: has no value: write one, or remove the key (default 10s)',
  ]);
});

t.test('numbers without sense are refused for every key that takes one', async (t) => {
  const cwd = t.testdir({});
  const numeric = leavesOf(CONFIG).filter(({ path, leaf }) => typeof defaultOf(path, leaf.unit) === 'number');
  t.ok(numeric.length > 20);
  for (const { path } of numeric) {
    for (const nonsense of ['-1', '1e300', 'NaN', '0x', '1.5.5', 'Infinity']) {
      const loaded = await loadConfig({ env: {}, cwd, flags: { [path]: nonsense } });
      t.equal(loaded.ok, false, `${path} = ${nonsense}`);
    }
  }
});

t.test('every number has a least and a most', async (t) => {
  const cwd = t.testdir({});
  const refused = async (path: string, value: number): Promise<boolean> => {
    const keys = path.split('.');
    const yaml = `${keys.map((key) => `{${key}: `).join('')}${value}${'}'.repeat(keys.length)}`;
    writeFileSync(join(cwd, 'turnd.yaml'), yaml);
    const told = await bad(loadConfig({ env: {}, cwd }));
    return told.some((line) => line.includes(`${path}: `));
  };
  const mayBeZero: string[] = [];
  for (const { path, leaf } of leavesOf(CONFIG)) {
    if (typeof defaultOf(path, leaf.unit) !== 'number') continue;
    t.ok(await refused(path, 1e15), `${path} has a most`);
    t.ok(await refused(path, -1), `${path} is not negative`);
    if (!(await refused(path, 0))) mayBeZero.push(path);
  }
  t.same(mayBeZero, [
    'agent.warm_workers',
    'agent.lane_age',
    'agent.park_after',
    'intelligence.max_output_tokens',
    'intelligence.confidence.preflight',
    'intelligence.confidence.decide',
    'context.instructions_max',
    'context.max_compactions',
    'limits.max_message_depth',
    'limits.subagents.depth',
    'limits.cancel_grace',
    'limits.kill_grace',
    'limits.model.retries',
    'limits.model.retry_after',
    'store.min_free',
    'lifecycle.drain_timeout',
  ]);
});

t.test('values that cannot be meant together are told', async (t) => {
  t.match(await bad(load(t, 'limits:\n  exec: {timeout: 2h}')), [
    'turnd.yaml:2: limits.exec.timeout: is longer than limits.exec.timeout_max',
  ]);
  t.match(await bad(load(t, 'intelligence: {dialect: builtin, endpoints: "http://localhost:1"}')), [
    /the built-in model has no endpoint/,
  ]);
  t.match(await bad(load(t, 'limits: {progress: 5s}')), [/limits\.pong: must be shorter/]);
  t.match(await bad(load(t, 'knowledge: {auto_context: {on: turn}}')), [
    /auto_context\.on: needs knowledge\.search/,
  ]);
  t.match(await bad(load(t, 'knowledge: {search: {path: docs, url: "https://search.example"}}')), [
    /has both a path and a url/,
  ]);
  t.match(
    await bad(loadConfig({ env: { K: 'x' }, cwd: '/', flags: { 'knowledge.search.token': '{{secret:K}}' } })),
    [/belongs to knowledge\.search\.url/],
  );
});

t.test('relative paths start at the folder of the file, or where turnd was started', async (t) => {
  const cwd = t.testdir({
    etc: { 'turnd.yaml': 'store: {path: state}\ncontext: {template: t.md}', 't.md': 'x' },
  });
  const env = { TURND_STORE_PATH: '', HOME: '/home/desk' };
  const loaded = await good(loadConfig({ env, cwd, file: 'etc/turnd.yaml' }));
  t.equal(loaded.config.store.path, join(cwd, 'etc', 'state'));
  t.equal(loaded.config.context.template, join(cwd, 'etc', 't.md'));
  const path = async (text: string): Promise<string | null> =>
    (await good(loadConfig({ env, cwd, flags: { 'store.path': text } }))).config.store.path;
  t.equal(await path('state'), join(cwd, 'state'));
  t.equal(await path('~/state'), '/home/desk/state');
  const flags = { 'context.template': 'none.md', 'intelligence.ca_file': '.' };
  t.match(await bad(loadConfig({ env, cwd, flags })), [
    /not a regular file/,
    /none\.md cannot be read: ENOENT/,
  ]);
});

t.test('every key has its own environment name', (t) => {
  const names = leavesOf(CONFIG).map(({ path }) => environmentName(path));
  t.equal(new Set(names).size, names.length);
  t.ok(names.includes('TURND_LIMITS_RUN_STEPS'));
  t.notOk(names.includes('TURND_CONFIG'));
  t.end();
});

t.test('the example file loads, and shows every key but those that few need', async (t) => {
  const file = join(projectRoot(fileURLToPath(import.meta.url)), 'config', 'example.yaml');
  const loaded = await good(loadConfig({ file, env: { OPENAI_API_KEY: 'sk-example-0123456789' }, cwd: '/' }));
  t.equal(loaded.config.agent.name, 'desk');
  t.equal(loaded.config.limits.run.deadline_ms, 30 * 60_000);
  t.equal(loaded.config.intelligence.token?.reveal(), 'sk-example-0123456789');
  t.same(loaded.warnings, []);
  const left = [...loaded.sources].filter(([, source]) => source === 'default').map(([path]) => path);
  t.same(left, [
    'intelligence.auth.kind',
    'intelligence.auth.region',
    'intelligence.auth.access_key_id',
    'intelligence.auth.secret_access_key',
    'intelligence.auth.session_token',
    'intelligence.ca_file',
    'intelligence.roles.turn',
    'context.template',
    'knowledge.search.url',
    'knowledge.search.token',
  ]);
});
