// Models, providers, roles and routes: what a configuration means, and what it cannot mean.
import t, { type Test } from 'tap';
import { loadConfig } from '../../config/load.js';
import { formatProblem } from '../../config/problem.js';
import { systemClock } from '../../shared/clock.js';
import { type ModelCatalogue, openCatalogue } from '../../supervisor/intelligence/model-catalogue.js';

const ENV = { BASE_KEY: 'sk-base-0123456789', OTHER_KEY: 'sk-other-0123456789' };

async function opened(
  test: Test,
  yaml: string,
  flags: Record<string, string> = {},
  env: NodeJS.ProcessEnv = ENV,
): Promise<ModelCatalogue> {
  const loaded = await loadConfig({
    env,
    cwd: test.testdir({ 'turnd.yaml': yaml }),
    file: 'turnd.yaml',
    flags,
  });
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  const result = await openCatalogue(loaded.config, env, systemClock);
  if (!result.ok) throw new Error(result.message);
  return result.catalogue;
}

/** One line a problem, without the folder. */
async function problems(test: Test, yaml: string, flags: Record<string, string> = {}): Promise<string[]> {
  const loaded = await loadConfig({
    env: ENV,
    cwd: test.testdir({ 'turnd.yaml': yaml }),
    file: 'turnd.yaml',
    flags,
  });
  if (loaded.ok) return [];
  return loaded.problems.map((one) => formatProblem(one).replace(/^\/.*\/turnd\.yaml/, 'turnd.yaml'));
}

const WHOLE = `
agent: {preflight: auto}
intelligence:
  endpoints: [http://127.0.0.1:1/v1, http://127.0.0.1:2/v1]
  token: "{{secret:BASE_KEY}}"
  structured_output: prompt
  providers:
    other:
      endpoints: http://127.0.0.1:3
      dialect: anthropic
      token: "{{secret:OTHER_KEY}}"
      headers: {x-team: ops}
      structured_output: json_schema
    judge: {endpoints: http://127.0.0.1:4/judge}
  models:
    smart: {model: wire-smart, fallback: deep}
    fast: {model: wire-fast, window: 9000, max_output_tokens: 700}
    deep: {kind: reasoning, provider: other, model: wire-deep, reasoning: {effort: high}, fallback: last}
    last: {model: wire-last, structured_output: auto}
    verdict: {kind: decision, provider: judge, model: wire-verdict}
  roles: {turn: smart, preflight: verdict, compaction: fast}
  routes:
    deep: careful work
`;

t.test('each role has its model, and what is not said is done by the model of the turn', async (t) => {
  const catalogue = await opened(t, WHOLE);
  t.equal(catalogue.modelFor('turn').name, 'smart');
  t.equal(catalogue.modelFor('preflight').name, 'verdict');
  t.equal(catalogue.modelFor('compaction').name, 'fast');
  t.equal(catalogue.modelFor('think'), catalogue.turn);
  t.equal(catalogue.modelFor('decide'), catalogue.turn);
  t.equal(catalogue.named('last')?.settings.model, 'wire-last');
  t.equal(catalogue.named('undeclared')?.settings.model, 'undeclared', 'any other over the usual connection');
});

t.test('a model is reached as its provider says, with its credentials and no others', async (t) => {
  const { turn, named, modelFor } = await opened(t, WHOLE).then((catalogue) => ({
    turn: catalogue.turn,
    named: catalogue.named.bind(catalogue),
    modelFor: catalogue.modelFor.bind(catalogue),
  }));
  t.match(turn.settings, {
    dialect: 'openai',
    url: 'http://127.0.0.1:1/v1/chat/completions',
    urls: ['http://127.0.0.1:2/v1/chat/completions'],
    temperature: 0,
    structured_output: 'prompt',
  });
  t.strictSame(turn.credentials, { headers: {}, token: ENV.BASE_KEY });
  const deep = named('deep');
  t.match(deep, {
    kind: 'reasoning',
    settings: {
      dialect: 'anthropic',
      url: 'http://127.0.0.1:3/v1/messages',
      temperature: null,
      reasoning_effort: 'high',
      structured_output: 'json_schema',
    },
  });
  t.ok((deep?.settings.thinking_tokens ?? 0) > 0, 'room for its thinking');
  t.strictSame(deep?.credentials, { headers: { 'x-team': 'ops' }, token: ENV.OTHER_KEY });
  t.equal(named('last')?.settings.structured_output, 'auto', 'of the model before that of its connection');
  t.equal(named('fast')?.settings.max_output_tokens, 700);
  t.match(modelFor('preflight'), {
    kind: 'decision',
    url: 'http://127.0.0.1:4/judge',
    settings: { dialect: 'decision', url: 'http://127.0.0.1:4/judge', model: 'wire-verdict' },
    credentials: { headers: {}, token: undefined },
  });
});

t.test('fallbacks are followed to their end, each with its own credentials', async (t) => {
  const { turn } = await opened(t, WHOLE);
  t.strictSame(
    turn.fallbacks.map(({ settings, credentials }) => [settings.model, credentials.token]),
    [
      ['wire-deep', ENV.OTHER_KEY],
      ['wire-last', ENV.BASE_KEY],
    ],
  );
});

t.test('routes are known by name, and a turn counts on the smallest window among them', async (t) => {
  const catalogue = await opened(t, WHOLE.replace('model: wire-deep', 'model: wire-deep, window: 5000'));
  t.strictSame(catalogue.routes, [{ name: 'deep', criterion: 'careful work' }]);
  t.equal(catalogue.route('deep')?.settings.model, 'wire-deep');
  t.equal(catalogue.route('fast'), undefined, 'declared, but no route');
  t.equal(catalogue.windowOf({ model: 'wire-smart' }), 5000);
  t.equal(catalogue.windowOf({ model: 'wire-deep' }), 5000);
  t.equal(catalogue.windowOf({ model: 'wire-fast' }), 9000, 'not one for turns');
});

t.test('a model typed on the command line is used for turns, declared or not', async (t) => {
  const declared = await opened(t, WHOLE, { 'intelligence.roles.turn': 'deep' });
  t.equal(declared.turn.settings.model, 'wire-deep');
  const plain = await opened(t, WHOLE, { 'intelligence.roles.turn': 'brand-new' });
  t.match(plain.turn, { name: 'brand-new', settings: { url: 'http://127.0.0.1:1/v1/chat/completions' } });
  t.equal(plain.modelFor('compaction').name, 'fast', 'the other roles keep theirs');
});

t.test('without a usual connection nothing is looked for when every model has a provider', async (t) => {
  const yaml = `
intelligence:
  model: only
  providers: {one: {endpoints: http://127.0.0.1:5, dialect: openai}}
  models: {only: {provider: one, model: wire}}
`;
  const { turn, named } = await opened(t, yaml, {}, { OPENAI_API_KEY: 'sk-env-0123456789' });
  t.equal(turn.settings.url, 'http://127.0.0.1:5/v1/chat/completions');
  t.strictSame(turn.credentials, { headers: {} }, 'a key of the environment is for the usual connection');
  t.type(named, 'function');
});

t.test('a key that was found in the environment serves declared models, and is masked', async (t) => {
  const yaml = 'intelligence: {model: small, models: {small: {model: wire-small}}}';
  const catalogue = await opened(t, yaml, {}, { OPENAI_API_KEY: 'sk-env-0123456789' });
  t.match(catalogue.turn.settings, {
    url: 'https://api.openai.com/v1/chat/completions',
    model: 'wire-small',
  });
  t.strictSame(catalogue.secrets, ['sk-env-0123456789']);
});

t.test('names that nobody bears are refused with the nearest one', async (t) => {
  const yaml = WHOLE.replace('provider: other', 'provider: othr')
    .replace('fallback: last', 'fallback: lats')
    .replace('compaction: fast', 'compaction: fats')
    .replace('    deep: careful', '    deeper: careful');
  t.strictSame(await problems(t, yaml), [
    'turnd.yaml:18: intelligence.models.deep.provider: names no provider: there is no othr (did you mean other?)',
    'turnd.yaml:18: intelligence.models.deep.fallback: names no model of intelligence.models: there is no lats (did you mean last?)',
    'turnd.yaml:21: intelligence.roles.compaction: names no model of intelligence.models: there is no fats (did you mean fast?)',
    'turnd.yaml:23: intelligence.routes.deeper: names no model of intelligence.models: there is no deeper (did you mean deep?)',
  ]);
});

t.test('what models and roles cannot mean is told where it stands', async (t) => {
  const told = async (from: string, to: string): Promise<string> =>
    (await problems(t, WHOLE.replace(from, to))).join('\n');
  t.equal(
    await told('model: wire-last,', 'model: wire-last, fallback: smart,'),
    'turnd.yaml:16: intelligence.models.smart.fallback: goes in a circle: smart to deep to last to smart',
  );
  t.match(
    await told('fallback: last', 'fallback: deep'),
    /models\.deep\.fallback: goes in a circle: deep to deep/,
  );
  t.match(await told('fallback: last', 'fallback: verdict'), /models\.deep\.fallback: verdict only decides/);
  t.match(await told('turn: smart', 'turn: verdict'), /roles\.turn: verdict only decides/);
  t.match(await told('compaction: fast', 'compaction: verdict'), /roles\.compaction: verdict only decides/);
  t.match(await told('    deep: careful', '    verdict: careful'), /routes\.verdict: verdict only decides/);
  t.match(
    await told('preflight: auto', 'preflight: never'),
    /intelligence\.routes: .*agent\.preflight says never/,
  );
  t.match(await told('kind: reasoning, ', ''), /models\.deep\.reasoning: is for a reasoning model/);
  t.match(
    await told('model: wire-verdict', 'model: v, fallback: fast'),
    /verdict\.fallback: a decision model has none/,
  );
  t.match(
    await told('{endpoints: http://127.0.0.1:4/judge}', '{dialect: openai}'),
    /models\.verdict: .*needs the endpoints/,
  );
  t.match(await told('{endpoints: http://127.0.0.1:4/judge}', '{}'), /providers\.judge: says neither/);
  t.match(
    await told('  roles: {', '  model: fast\n  roles: {'),
    /roles\.turn: and intelligence\.model \(fast\) are the same/,
  );
  t.equal(await told('turn: smart', 'turn: fast'), '', 'one that can be');
});

t.test('several endpoints are a list of different URLs, or text with commas', async (t) => {
  const list = (yaml: string): Promise<string[]> =>
    problems(t, `intelligence: {model: m, endpoints: ${yaml}}`);
  t.match(await list('[]'), [/endpoints: has no entry/]);
  t.match(await list('[http://127.0.0.1:1, http://127.0.0.1:1]'), [/endpoints\.1: stands twice/]);
  t.match(await list('[http://127.0.0.1:1, "http://u:p@127.0.0.1:2"]'), [
    /endpoints\.1: a credential must not/,
  ]);
  t.match(await list('[http://127.0.0.1:1, nowhere]'), [/endpoints: expected a URL/]);
  const { turn } = await opened(t, '', {
    'intelligence.roles.turn': 'm',
    'intelligence.endpoints': 'http://127.0.0.1:1,http://127.0.0.1:2/v1',
  });
  t.match(turn.settings, {
    url: 'http://127.0.0.1:1/v1/chat/completions',
    urls: ['http://127.0.0.1:2/v1/chat/completions'],
  });
});

t.test('a cap on costs asks for the price of every model that may be asked', async (t) => {
  const budget =
    '  budget: {lifetime: {cost: 5}}\n  prices: {wire-smart: {input: 1, output: 1}, wire-fast: {input: 1, output: 1}}\n';
  const told = await problems(t, WHOLE + budget);
  t.strictSame(
    told.map((line) => /what (\S+) costs/.exec(line)?.[1]),
    ['wire-verdict', 'wire-deep', 'wire-last'],
  );
});
