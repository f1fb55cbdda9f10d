// Budgets and prices in the configuration: lists and mappings of records, each mistake with its own line.
import t, { type Test } from 'tap';
import { loadConfig } from '../../config/load.js';
import { formatProblem } from '../../config/problem.js';
import type { Config } from '../../config/schema.js';

async function load(
  test: Test,
  yaml: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ intelligence: Config['intelligence'] | null; problems: string[] }> {
  const loaded = await loadConfig({ env, cwd: test.testdir({ 'turnd.yaml': yaml }), file: 'turnd.yaml' });
  if (loaded.ok) return { intelligence: loaded.config.intelligence, problems: [] };
  const problems = loaded.problems.map((one) =>
    formatProblem(one).replace(/^\/.*\/turnd\.yaml/, 'turnd.yaml'),
  );
  return { intelligence: null, problems };
}

const WHOLE = `
intelligence:
  model: "qwen:8b"
  endpoints: http://127.0.0.1:1/v1
  budget:
    windows:
      - per: day
        tokens: 10
        cost: 0.5
        reset: "04:30Z"
      - {per: minute, requests: 3}
    lifetime: {tokens: 100, cost: 2}
    scope: [instance, thread]
    on_exhausted: slow
    slow_factor: 0.25
    max_wait: 90s
  prices:
    "qwen:8b": {input: 0.1, output: 0.4}
`;

t.test('a budget is read with its windows, its prices, and null for what is absent', async (t) => {
  const { intelligence } = await load(t, WHOLE);
  t.match(intelligence?.budget, {
    windows: [
      { per: 'day', tokens: 10, requests: null, cost: 0.5, reset: '04:30Z' },
      { per: 'minute', tokens: null, requests: 3, cost: null, reset: null },
    ],
    lifetime: { tokens: 100, cost: 2 },
    scope: ['instance', 'thread'],
    on_exhausted: 'slow',
    slow_factor: 0.25,
    degrade_model: null,
    max_wait_ms: 90_000,
  });
  t.same(intelligence?.prices, { 'qwen:8b': { input: 0.1, output: 0.4, cached: null, written: null } });
  t.ok(Object.isFrozen(intelligence?.budget.windows[0]), 'down to the entries');
});

t.test('windows and prices are JSON where they come as text', async (t) => {
  const { intelligence } = await load(t, '', {
    TURND_INTELLIGENCE_BUDGET_WINDOWS: '[{"per":"week","tokens":5}]',
    TURND_INTELLIGENCE_BUDGET_LIFETIME_COST: '0.75',
    TURND_INTELLIGENCE_BUDGET_SCOPE: 'thread, principal',
    TURND_INTELLIGENCE_PRICES: '{"m":{"input":1,"output":2,"cached":0}}',
  });
  t.match(intelligence?.budget, { windows: [{ per: 'week', tokens: 5 }], scope: ['thread', 'principal'] });
  t.equal(intelligence?.budget.lifetime.cost, 0.75);
  t.same(intelligence?.prices['m'], { input: 1, output: 2, cached: 0, written: null });
  const bad = await load(t, '', {
    TURND_INTELLIGENCE_BUDGET_WINDOWS: '{"per":"week"}',
    TURND_INTELLIGENCE_PRICES: 'm=1',
  });
  t.same(bad.problems, [
    '$TURND_INTELLIGENCE_BUDGET_WINDOWS: intelligence.budget.windows: expected a list of mappings of per, tokens, requests, cost, reset',
    '$TURND_INTELLIGENCE_PRICES: intelligence.prices: expected a mapping of names to mappings of input, output, cached, written',
  ]);
});

t.test('every mistake in a list or a mapping is told with its own line and its nearest key', async (t) => {
  const { problems } = await load(
    t,
    `intelligence:
  budget:
    windows:
      - per: day
        tokens: 0
      - {per: week, tokns: 4, requests: .nan}
      - per: hour
        cost: -1
      - tokens: 1
      - 5
      - {per: day, tokens: 1, tokens: 2, reset: 4:30}
      - per: month
        tokens:
    slow_factor: 0
    lifetime: {tokens: 1e30, cost: .inf}
    scope: [instance, everyone]
  prices:
    gpt: {input: 1, output: .inf}
    other: {input: -0.5}
    third: cheap
`,
  );
  t.same(problems, [
    'turnd.yaml:5: intelligence.budget.windows.0.tokens: is too small: expected a whole number from 1 to 1000000000000',
    'turnd.yaml:6: intelligence.budget.windows.1.tokns: unknown key (did you mean tokens?)',
    'turnd.yaml:6: intelligence.budget.windows.1.requests: expected a whole number from 1 to 1000000000000',
    'turnd.yaml:8: intelligence.budget.windows.2.cost: is too small: expected a number from 0.000001 to 1000000000',
    'turnd.yaml:9: intelligence.budget.windows.3.per: is missing',
    'turnd.yaml:10: intelligence.budget.windows.4: expected a mapping of per, tokens, requests, cost, reset',
    'turnd.yaml:11: intelligence.budget.windows.5.tokens: stands twice',
    'turnd.yaml:11: intelligence.budget.windows.5.reset: expected a time of day in UTC such as "04:30Z"',
    'turnd.yaml:12: intelligence.budget.windows.6.per: expected one of second, minute, hour, day, week',
    'turnd.yaml:14: intelligence.budget.slow_factor: is too small: expected a number from 0.01 to 1',
    'turnd.yaml:15: intelligence.budget.lifetime.tokens: is too large: expected a whole number from 1 to 1000000000000',
    'turnd.yaml:15: intelligence.budget.lifetime.cost: is too large: expected a number from 0.000001 to 1000000000',
    'turnd.yaml:16: intelligence.budget.scope: expected instance, thread, principal',
    'turnd.yaml:18: intelligence.prices.gpt.output: is too large: expected a number from 0 to 1000000',
    'turnd.yaml:19: intelligence.prices.other.input: is too small: expected a number from 0 to 1000000',
    'turnd.yaml:19: intelligence.prices.other.output: is missing',
    'turnd.yaml:20: intelligence.prices.third: expected a mapping of input, output, cached, written',
  ]);
});

t.test('what a budget cannot mean is told where it stands', async (t) => {
  const { problems } = await load(
    t,
    `intelligence:
  model: gpt
  endpoints: http://127.0.0.1:1/v1
  budget:
    windows:
      - per: day
        tokens: 10
      - {per: day, cost: 1}
      - {per: minute}
      - per: hour
        tokens: 5
        reset: "04:30Z"
    scope: []
    on_exhausted: degrade
`,
  );
  t.same(problems, [
    'turnd.yaml:8: intelligence.budget.windows.1.per: stands twice: give one window per day',
    'turnd.yaml:8: intelligence.budget.windows.1.cost: nobody knows what gpt costs: give its price in intelligence.prices',
    'turnd.yaml:9: intelligence.budget.windows.2: caps nothing: give tokens, requests or cost',
    'turnd.yaml:12: intelligence.budget.windows.3.reset: only a window per day or week starts at a time of day',
    'turnd.yaml:13: intelligence.budget.scope: names nobody to count for',
    'turnd.yaml:14: intelligence.budget.on_exhausted: degrade needs a model: set intelligence.budget.degrade_model',
  ]);
  const costs =
    'intelligence: {dialect: builtin, budget: {lifetime: {cost: 1}, degrade_model: x, on_exhausted: degrade}}';
  t.same((await load(t, costs)).problems, [
    'turnd.yaml:1: intelligence.budget.lifetime.cost: nobody knows what builtin costs: give its price in intelligence.prices',
    'turnd.yaml:1: intelligence.budget.lifetime.cost: nobody knows what x costs: give its price in intelligence.prices',
  ]);
  const found = 'intelligence: {budget: {lifetime: {cost: 1}}}';
  t.same((await load(t, found)).problems, [], 'a model that is only found at start is checked then');
});

t.test('a list nested without end is refused and not walked', async (t) => {
  const deep = (levels: number): string =>
    `intelligence: {budget: {windows: ${'['.repeat(levels)}${']'.repeat(levels)}}}`;
  t.match((await load(t, deep(50))).problems, [/windows\.0: expected a mapping of per/]);
  t.match((await load(t, deep(5_000))).problems, [/nests its values too deeply|is not valid here/]);
});
