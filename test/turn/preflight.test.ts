// The look at a message before its turn, on a real store with a model that says what the test wants: every effect of a
// verdict, and that nothing of it ever stops a turn.
import t, { type Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { Preflight, type Preflighted, type PreflightParts } from '../../supervisor/context/preflight.js';
import type { ThinkRequest, ThinkResult } from '../../supervisor/context/thinker.js';
import type { ResolvedModel } from '../../supervisor/intelligence/resolve-model.js';
import type { InboxRow, TurnOptions } from '../../supervisor/store/rows.js';
import type { Store } from '../../supervisor/store/types.js';
import { mustOpen } from '../fakes/open-store.js';
import { MODEL } from '../fakes/turn-frame.js';

const DEEP: ResolvedModel = {
  settings: { ...MODEL, model: 'deep-1' },
  credentials: { headers: {} },
  notice: null,
} as unknown as ResolvedModel;

interface Scene {
  readonly store: Store;
  readonly asked: ThinkRequest[];
  readonly logged: [string, JsonObject][];
  readonly plans: [string, readonly { title: string }[]][];
  before(message?: Partial<InboxRow>, options?: TurnOptions): Promise<Preflighted> | null;
  notes(): string[];
}

function scene(t: Test, says: JsonValue | ThinkResult | Error, change: Partial<PreflightParts> = {}): Scene {
  const store = mustOpen(`${t.testdir({})}/state`);
  t.teardown(() => store.close());
  const asked: ThinkRequest[] = [];
  const logged: [string, JsonObject][] = [];
  const plans: [string, readonly { title: string }[]][] = [];
  const answer = (): ThinkResult => {
    if (says instanceof Error) throw says;
    if (typeof says === 'object' && says !== null && 'ok' in says) return says as ThinkResult;
    return { ok: true, value: says as JsonValue, text: JSON.stringify(says) };
  };
  const preflight = new Preflight({
    mode: 'auto',
    confidence: 0.6,
    store,
    clock: systemClock,
    thinker: {
      think: async (request) => {
        asked.push(request);
        return answer();
      },
    },
    answers: () => 'chat',
    routes: () => [],
    route: () => undefined,
    earlier: () => [],
    seedPlan: (_turn, goal, steps) => plans.push([goal, steps]),
    seesAll: (principal) => principal === 'operator',
    live: () => undefined,
    log: (event, fields) => logged.push([event, fields as JsonObject]),
    ...change,
  });
  let count = 0;
  return {
    store,
    asked,
    logged,
    plans,
    before: (message = {}, options = {}) => {
      count += 1;
      const turnId = `turn_${count}`;
      accept(store, { turn_id: turnId, ...message }, options);
      return preflight.before({ turnId, threadId: 'root' }, new AbortController().signal);
    },
    notes: () =>
      store.events
        .ofTurn(`turn_${count}`)
        .flatMap(({ event }) => (event.kind === 'note' ? [event.text] : [])),
  };
}

function accept(store: Store, message: Partial<InboxRow>, options: TurnOptions = {}): void {
  const row: InboxRow = {
    event_id: `event_${message.turn_id}`,
    turn_id: 'turn_x',
    thread_id: 'root',
    principal: 'operator',
    text: 'Fix the build.',
    created_at_ms: 1,
    producer: 'client',
    lane: 'person',
    hop: 0,
    ...message,
  };
  store.transact('accept_message', () => {
    const workspace = store.workspaces.ensure('/somewhere', 1);
    for (const thread of ['root', row.thread_id])
      store.threads.ensure(thread, workspace.workspace_id, 'operator', 1);
    store.turns.insert({ turn_id: row.turn_id, thread_id: row.thread_id, created_at_ms: 1, options });
    store.inbox.insert(row);
  });
}

const verdict = (change: JsonObject = {}): JsonObject => ({
  intent: 'task',
  needs_plan: false,
  plan: [],
  questions: [],
  risk: 'low',
  ...change,
});
const GO = { kind: 'go', extras: {} };

t.test('who has nothing to look at, or nobody to ask, waits for nothing', async (t) => {
  const cases: [string, Partial<PreflightParts>, Partial<InboxRow>][] = [
    ['small talk', {}, { text: 'Hello' }],
    ['a message that another model weighed', {}, { producer: 'subagent' }],
    ['switched off', { mode: 'never' }, {}],
    ['no model that could', { answers: () => 'nobody' }, {}],
  ];
  for (const [name, parts, message] of cases)
    await t.test(name, (t) => {
      const s = scene(t, verdict(), parts);
      t.equal(s.before(message), null);
      t.equal(s.asked.length, 0);
      t.end();
    });
});

t.test('it is one bounded thought on the role of its own', async (t) => {
  const s = scene(t, verdict(), {
    earlier: () => [
      { role: 'user', text: 'The build is red.' },
      { role: 'tool', call_id: 'c', name: 'x', content: 'noise', is_error: false },
      { role: 'assistant', text: 'I see.', calls: [] },
    ],
  });
  t.same(await s.before({ text: `Fix it. ${'x'.repeat(20_000)}` }), GO);
  t.match(s.asked, [
    { purpose: 'preflight', turnId: 'turn_1', max_output_tokens: 1_024, deadline_ms: 60_000 },
  ]);
  const [first] = s.asked[0]?.messages ?? [];
  const text = first?.role === 'user' ? first.text : '';
  t.match(text, /person: The build is red\.\nagent: I see\.\n\nThe message:\nFix it\./);
  t.notMatch(text, /noise/);
  t.ok(text.length < 9_000, 'a long message is shortened');
  t.match(s.logged, [
    ['preflight.start', { turn_id: 'turn_1' }],
    ['preflight.verdict', { intent: 'task', needs_plan: false, risk: 'low' }],
  ]);
});

t.test('a question about the work is answered from what the asker may see', async (t) => {
  const s = scene(t, verdict({ intent: 'status' }));
  accept(s.store, { turn_id: 'turn_own', principal: 'ann', text: 'Paint the\nfence', thread_id: 'garden' });
  accept(s.store, { turn_id: 'turn_other', principal: 'bob', text: 'secret of bob', thread_id: 'b' });
  const plan = {
    goal: 'a garden',
    items: [
      { title: 'dig', status: 'done' },
      { title: 'sow', status: 'pending' },
    ],
  };
  s.store.transact('state_tool', () => s.store.plans.set('root', plan, 1));
  const answered = await s.before({ principal: 'ann', text: 'How does it start to look?' });
  if (answered?.kind !== 'answered') throw new Error('not answered');
  t.equal(
    answered.reply,
    '0 running, 1 waiting:\n- waiting, thread garden: Paint the fence\n\nPlan: a garden (1 of 2 done)\n- done: dig\n- pending: sow',
  );
  const all = await s.before({ principal: 'operator' });
  t.match(all, { reply: /secret of bob/ });
});

t.test('what is unclear is asked back, and nothing is done', async (t) => {
  const one = scene(t, verdict({ intent: 'clarify', questions: ['Which build?'] }));
  t.same(await one.before(), { kind: 'answered', reply: 'Which build?' });
  await t.test('several questions are numbered', async (t) => {
    const two = scene(t, verdict({ intent: 'clarify', questions: ['Which build?', 'By when?'] }));
    t.same(await two.before(), { kind: 'answered', reply: '1. Which build?\n2. By when?' });
    t.same(
      await two.before({}, { output_schema: {} }),
      GO,
      'our words would not have the form that is asked for',
    );
    t.match(two.notes(), [/not be clear enough/]);
  });
  await t.test('without a question the turn decides', async (t) => {
    const none = scene(t, verdict({ intent: 'clarify' }));
    t.same(await none.before(), GO);
    t.match(none.notes(), [/not be clear enough/]);
  });
});

t.test('a plan is written down where one is needed and none is there', async (t) => {
  const s = scene(t, verdict({ needs_plan: true, plan: [{ title: 'look', detail: '' }] }));
  t.same(await s.before({ text: 'Fix  the\nbuild' }), GO);
  t.match(s.plans, [['Fix the build', [{ title: 'look' }]]]);
  t.match(s.notes(), [/first plan .* was written down/]);
  s.store.transact('state_tool', () => s.store.plans.set('root', { goal: 'g', items: [] }, 1));
  t.same(await s.before(), GO);
  t.equal(s.plans.length, 1, 'what is there is left alone');
  t.same(s.notes(), []);
});

const ROUTES = {
  routes: () => [{ name: 'deep', criterion: 'careful work' }],
  route: (name: string) => (name === 'deep' ? DEEP : undefined),
};

t.test('a route that is sure enough chooses the model', async (t) => {
  const s = scene(t, verdict({ route: 'deep', route_confidence: 0.6 }), ROUTES);
  t.same(await s.before(), { kind: 'go', extras: { model: DEEP } });
  t.match(s.logged.at(-1), ['turn.routed', { route: 'deep' }]);
  t.match(s.asked[0]?.output_schema, { properties: { route: { enum: ['deep', 'none'] } } });
  await s.before({}, { model: 'own' });
  t.notOk('route' in Object(s.asked[1]?.output_schema?.properties), 'a turn that names its model keeps it');
});

t.test('no route, an unsure one and one that is gone leave the turn where it is', async (t) => {
  const cases: [string, JsonObject, string][] = [
    ['none', { route: 'none', route_confidence: 1 }, 'preflight.verdict'],
    ['unsure', { route: 'deep', route_confidence: 0.59 }, 'preflight.route_unsure'],
    ['gone', { route: 'lost', route_confidence: 1 }, 'turn.route_removed'],
  ];
  for (const [name, said, event] of cases)
    await t.test(name, async (t) => {
      const s = scene(t, verdict(said), ROUTES);
      t.same(await s.before(), GO);
      t.equal(s.logged.at(-1)?.[0], event);
    });
});

t.test(
  'a decision model is asked several questions, and what it cannot write the turn is told to',
  async (t) => {
    const answers = {
      intent: { choice: 'clarify', confidence: 0.8 },
      needs_plan: { noul: 0.9 },
      risk: { choice: 'high', confidence: 0.3 },
      route: { choice: 'deep', confidence: 0.7 },
    };
    const s = scene(t, answers, { ...ROUTES, answers: () => 'decision' });
    t.same(await s.before(), { kind: 'go', extras: { model: DEEP } });
    t.match(s.notes(), [/write one with plan\.create/, /not be clear enough/]);
    const [first] = s.asked[0]?.messages ?? [];
    const body = JSON.parse(first?.role === 'user' ? first.text : '{}') as JsonObject;
    t.same(Object.keys(Object(body.questions)), ['intent', 'needs_plan', 'risk', 'route']);
    await t.test('below its confidence it has said nothing', async (t) => {
      const unsure = { ...answers, intent: { choice: 'status', confidence: 0.5 } };
      const s = scene(t, unsure, { ...ROUTES, answers: () => 'decision' });
      t.same(await s.before(), GO);
      t.same(s.notes(), []);
      t.match(s.logged.at(-1), ['preflight.verdict', { intent: null }]);
    });
  },
);

t.test('whatever fails, the turn runs', async (t) => {
  const failures: [string, JsonValue | ThinkResult | Error][] = [
    ['no answer', { ok: false, code: 'model_unreachable', message: 'gone' }],
    ['a thrown error', new Error('broken')],
    ['no worker', { ok: false, code: 'worker_start_failed', message: 'no process' }],
  ];
  for (const [name, says] of failures)
    await t.test(name, async (t) => {
      const s = scene(t, says as JsonValue, ROUTES);
      t.same(await s.before(), GO);
      t.equal(s.logged.at(-1)?.[0], 'preflight.failed');
    });
  await t.test('an answer that is none', async (t) => {
    const s = scene(t, verdict({ intent: 'nonsense' }), ROUTES);
    t.same(await s.before(), GO);
  });
});
