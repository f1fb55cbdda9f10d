// Budgets on a real store, with workers that the test plays by hand and a clock that it moves.
import t, { type Test } from 'tap';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import { recover } from '../../supervisor/dispatch/recover.js';
import { budget, window } from '../fakes/budget.js';
import { done, type Stage, type StageOptions, settleDown, stage, worker } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';

const MINUTE = 60_000;
/** 2026-03-02 was a Monday. */
const MONDAY = Date.UTC(2026, 2, 2);

interface Scene extends Stage {
  readonly clock: FakeClock;
}

function scene(t: Test, options: StageOptions): Scene {
  const clock = new FakeClock();
  clock.set(MONDAY);
  return { ...stage(t, { deadlineMs: 24 * 60 * MINUTE, ...options, clock }), clock };
}

type Worker = Awaited<ReturnType<typeof worker>>;
type Answer = Extract<ToWorker, { type: 'budget_answer' }>['answer'];

/** Asks as a worker does before each model call. */
function asks(w: Worker, tokens: number): Answer {
  const before = w.sent.length;
  w.say({ type: 'budget_request', id: 1, estimate_tokens: tokens });
  const last = w.sent[before];
  if (last?.type !== 'budget_answer') throw new Error('no answer');
  return last.answer;
}

/** Makes the call that it was let make. */
function uses(w: Worker, call: number, tokens: number, model = 'm'): void {
  w.say({ type: 'progress', progress: { event: 'round', round: call } });
  const usage = { input_tokens: tokens, output_tokens: 0, cached_tokens: 0, estimated: false };
  w.say({ type: 'progress', progress: { event: 'usage', call_index: call, model, usage } });
}

/** A turn of one call, from start to end. */
async function whole(s: Scene, id: string, index: number, tokens: number): Promise<void> {
  const w = await worker(s, index);
  t.same(asks(w, tokens), { kind: 'go' });
  uses(w, 1, tokens);
  w.say(done());
  w.die({});
  await s.scheduler.whenSettled(id);
  await settleDown();
}

t.test('without a budget nothing is asked, held back or counted', async (t) => {
  const s = scene(t, {});
  const id = s.accept('hello');
  const w = await worker(s);
  t.match(w.sent[0], { type: 'turn', snapshot: { budget_admission: false } });
  t.same(asks(w, 10 ** 9), { kind: 'go' });
  uses(w, 1, 100);
  t.same(s.store.reservations.all(), []);
  t.equal(s.store.spending.newest('instance', 'day'), undefined);
  t.equal(s.store.usage.costOf(id), null);
});

t.test('what a turn may take is held back with its dispatch, and settled call by call', async (t) => {
  const s = scene(t, { intelligence: budget({ windows: [window('day', { tokens: 10_000 })] }) });
  s.accept('hello');
  const w = await worker(s);
  t.match(s.store.reservations.all(), [{ purpose: 'turn', call_index: null, input_tokens: 100 }]);
  t.same(asks(w, 5_000), { kind: 'go' });
  t.match(s.store.reservations.all(), [{ call_index: 1, input_tokens: 904, output_tokens: 4_096 }]);
  uses(w, 1, 300);
  t.same(s.store.reservations.all(), []);
  t.match(s.store.spending.newest('instance', 'day'), {
    tokens: 300,
    requests: 1,
    starts_at_ms: MONDAY,
  });
  t.same(asks(w, 9_700), { kind: 'go' });
  uses(w, 2, 9_700);
  t.match(asks(w, 1), { kind: 'wait', wait_ms: MINUTE });
  t.match(s.live.at(-1), { type: 'budget_wait', until_ms: MONDAY + 24 * 60 * MINUTE });
});

t.test(
  'a turn without room keeps its place, others overtake, and it starts when its time has come',
  async (t) => {
    const s = scene(t, {
      intelligence: budget({ windows: [window('minute', { tokens: 100 })], scope: ['thread'] }),
      cap: 2,
    });
    await whole(s, s.accept('spends all', 'a'), 0, 100);
    const held = s.accept('waits', 'a');
    const behind = s.accept('waits behind it', 'a');
    t.same(s.live.at(-1), { type: 'budget_wait', until_ms: MONDAY + MINUTE });
    await whole(s, s.accept('overtakes', 'b'), 1, 50);
    t.same(
      [held, behind].map((id) => s.store.turns.get(id)?.state),
      ['queued', 'queued'],
    );
    t.equal(s.clock.waiting, 1, 'one timer, and nothing asks in between');
    await s.clock.advance(MINUTE - 1_001);
    t.equal(s.workers.length, 2);
    await s.clock.advance(1_001);
    t.equal(s.store.turns.get(held)?.state, 'starting');
    t.equal(s.store.turns.get(behind)?.state, 'queued');
    await whole(s, held, 2, 10);
    t.equal(s.store.turns.get(behind)?.state, 'queued', 'its 100 do not fit into the 90 that are left');
    t.equal(s.workers.length, 3);
  },
);

t.test('a turn that waits for what another holds back starts when that turns out to need less', async (t) => {
  const s = scene(t, { intelligence: budget({ windows: [window('day', { tokens: 150 })] }) });
  s.accept('first', 'a');
  const second = s.accept('second', 'b');
  const w = await worker(s);
  t.equal(s.store.turns.get(second)?.state, 'queued');
  t.same(asks(w, 100), { kind: 'go' });
  uses(w, 1, 40);
  await settleDown();
  t.equal(s.store.turns.get(second)?.state, 'starting', 'after 40 there is room for 100');
});

t.test('a call that waits holds nothing, so that two never wait for each other', async (t) => {
  const s = scene(t, { intelligence: budget({ windows: [window('day', { tokens: 210 })] }) });
  s.accept('first', 'a');
  s.accept('second', 'b');
  const [one, two] = [await worker(s, 0), await worker(s, 1)];
  t.equal(s.store.reservations.all().length, 2);
  t.match(asks(one, 150), { kind: 'wait', wait_ms: 1_000 }, 'asked again soon: others hold what it needs');
  t.same(asks(two, 150), { kind: 'go' });
  uses(two, 1, 60);
  t.same(asks(one, 150), { kind: 'go' });
});

t.test('a cancel during a wait is immediate, and leaves no timer', async (t) => {
  const s = scene(t, { intelligence: budget({ windows: [window('day', { requests: 1 })] }) });
  await whole(s, s.accept('first'), 0, 10);
  const id = s.accept('second');
  t.equal(s.clock.waiting, 1);
  t.equal(s.scheduler.requestEnd(id, 'cancel'), true);
  t.match(await s.scheduler.whenSettled(id), { status: 'cancelled', rounds: 0 });
  s.scheduler.wake();
  t.equal(s.clock.waiting, 0);
  const next = s.accept('third');
  await s.scheduler.close();
  t.equal(s.clock.waiting, 0, 'nor does the end of the supervisor');
  t.equal(s.store.turns.get(next)?.state, 'queued');
});

t.test('refuse and fail end a turn that has not begun, with a note, and the thread goes on', async (t) => {
  for (const [tactic, status, code] of [
    ['refuse', 'refused', 'refused'],
    ['fail', 'failed', 'exhausted_tokens'],
  ] as const) {
    const s = scene(t, {
      intelligence: budget({ windows: [window('hour', { tokens: 100 })], on_exhausted: tactic }),
      dir: `${t.testdir({ [tactic]: {} })}/${tactic}/state`,
    });
    await whole(s, s.accept('first'), 0, 100);
    const id = s.accept('second');
    const row = await s.scheduler.whenSettled(id);
    t.match(row, {
      status,
      error_code: code,
      error_message: /100 tokens per hour has no room .* before 2026-03-02T01/,
    });
    const notes = s.store.events
      .ofTurn(id)
      .flatMap(({ event }) => (event.kind === 'note' ? [event.text] : []));
    t.match(notes, [/^turn not run: the budget of 100 tokens per hour/]);
    t.equal(s.workers.length, 1, 'no worker was taken for it');
    await s.clock.advance(60 * MINUTE);
    await whole(s, s.accept('third'), 1, 10);
  }
});

t.test('within a turn the answer of each tactic is a code, never a word of its reason', async (t) => {
  for (const [tactic, answer] of [
    ['refuse', { kind: 'stop', code: 'refused' }],
    ['fail', { kind: 'stop', code: 'exhausted_tokens' }],
    ['degrade', { kind: 'go', model: 'cheap' }],
    ['wait', { kind: 'wait', wait_ms: MINUTE }],
  ] as const) {
    const s = scene(t, {
      intelligence: budget({
        windows: [window('week', { requests: 1 })],
        on_exhausted: tactic,
        degrade_model: 'cheap',
      }),
      dir: `${t.testdir({ [tactic]: {} })}/${tactic}/state`,
    });
    s.accept('hello');
    const w = await worker(s);
    asks(w, 10);
    uses(w, 1, 10);
    t.match(asks(w, 10), answer, tactic);
  }
});

t.test('on the cheaper model windows are not charged, the lifetime is, and it ends', async (t) => {
  const prices = { cheap: { input: 1, output: 1, cached: null }, m: { input: 9, output: 9, cached: null } };
  const s = scene(t, {
    intelligence: budget(
      {
        windows: [window('day', { tokens: 100 })],
        lifetime: { tokens: 250, cost: null },
        on_exhausted: 'degrade',
        degrade_model: 'cheap',
      },
      prices,
    ),
  });
  const id = s.accept('hello');
  const w = await worker(s);
  asks(w, 100);
  uses(w, 1, 100);
  t.same(asks(w, 100), { kind: 'go', model: 'cheap' });
  uses(w, 2, 100, 'cheap-2026-01');
  t.match(s.store.spending.newest('instance', 'day'), { tokens: 100 });
  t.match(s.store.spending.newest('instance', 'lifetime'), { tokens: 200, cost_micros: 1_000 });
  t.equal(s.store.usage.costOf(id), 1_000, '900 and 100 millionths, by the model that was asked');
  t.match(asks(w, 100), { kind: 'stop', code: 'exhausted_tokens', reason: /lifetime budget of 250 tokens/ });
});

t.test('a lifetime that is used up ends a turn at once, whatever would wait for a window', async (t) => {
  const s = scene(t, { intelligence: budget({ lifetime: { tokens: 100, cost: null } }) });
  await whole(s, s.accept('first'), 0, 100);
  t.match(await s.scheduler.whenSettled(s.accept('second')), {
    status: 'exhausted_tokens',
    error_code: 'exhausted_tokens',
  });
});

t.test(
  'a wait longer than max_wait ends the turn before it, and one without a known end at its end',
  async (t) => {
    const windows = [window('hour', { tokens: 100 })];
    const s = scene(t, { intelligence: budget({ windows, max_wait_ms: 10 * MINUTE }) });
    const first = s.accept('first', 'a');
    const second = s.accept('second', 'b');
    const w = await worker(s);
    t.equal(s.store.turns.get(second)?.state, 'queued', 'the first may need less');
    asks(w, 100);
    uses(w, 1, 100);
    t.match(await s.scheduler.whenSettled(second), { status: 'exhausted_tokens', error_message: /max_wait/ });
    w.say(done());
    w.die({});
    await s.scheduler.whenSettled(first);
    await s.clock.advance(55 * MINUTE);
    const third = s.accept('third');
    await settleDown();
    t.equal(s.store.turns.get(third)?.state, 'queued', 'the hour ends within ten minutes');
    await s.clock.advance(5 * MINUTE);
    t.equal(s.store.turns.get(third)?.state, 'starting');
    const fourth = s.accept('fourth', 'd');
    await settleDown();
    t.equal(s.store.turns.get(fourth)?.state, 'queued', 'the third holds all of the new hour');
    await s.clock.advance(10 * MINUTE);
    t.equal(s.store.turns.get(fourth)?.status, 'exhausted_tokens');
  },
);

t.test('slow spreads a window evenly, at a part of its rate', async (t) => {
  const s = scene(t, {
    intelligence: budget({
      windows: [window('hour', { tokens: 1_000 })],
      on_exhausted: 'slow',
      slow_factor: 0.5,
    }),
  });
  s.accept('hello');
  const w = await worker(s);
  t.same(asks(w, 100), { kind: 'go' });
  uses(w, 1, 100);
  t.match(asks(w, 100), { kind: 'wait' });
  // 200 of 1000, less the burst of 50, at 500 an hour.
  t.match(s.live.at(-1), { type: 'budget_wait', until_ms: MONDAY + 18 * MINUTE });
  await s.clock.advance(18 * MINUTE);
  t.same(asks(w, 100), { kind: 'go' });
});

t.test('caps hold for each principal, wherever it speaks', async (t) => {
  const s = scene(t, {
    intelligence: budget({ windows: [window('day', { requests: 1 })], scope: ['principal'] }),
  });
  s.accept('one', 'a', 'ann');
  const held = s.accept('two', 'b', 'ann');
  const other = s.accept('three', 'c', 'bob');
  await settleDown();
  t.equal(s.store.turns.get(held)?.state, 'queued');
  t.equal(s.store.turns.get(other)?.state, 'starting');
});

t.test('costs are counted in whole millionths by class of token, and cap as tokens do', async (t) => {
  const prices = { builtin: { input: 2.5, output: 10, cached: 0.25 } };
  const s = scene(t, {
    intelligence: budget({ windows: [window('day', { cost: 0.04 })] }, prices),
  });
  const id = s.accept('hello');
  const w = await worker(s);
  t.same(asks(w, 4_000), { kind: 'go' }, 'an empty window takes one call');
  w.say({ type: 'progress', progress: { event: 'round', round: 1 } });
  const usage = { input_tokens: 1_001, output_tokens: 100, cached_tokens: 501, estimated: false };
  w.say({ type: 'progress', progress: { event: 'usage', call_index: 1, model: 'builtin-2026', usage } });
  // 500 × 2.5 + 501 × 0.25 + 100 × 10, rounded once.
  t.equal(s.store.usage.costOf(id), 2_375);
  t.match(s.store.spending.newest('instance', 'day'), { cost_micros: 2_375 });
  t.match(s.store.events.ofTurn(id).at(-1)?.event, { kind: 'usage', cost_micros: 2_375 });
  t.match(asks(w, 4_800), { kind: 'wait' }, '4096 of output alone would cost 40 960');
  uses(w, 2, 10, 'unknown-model');
  t.equal(s.store.usage.costOf(id), 2_400, 'priced by the model that was asked');
});

t.test(
  'a worker that dies in a call is charged what was held for it; before the call, nothing',
  async (t) => {
    const s = scene(t, { intelligence: budget({ windows: [window('day', { tokens: 10_000 })] }) });
    const lost = s.accept('dies in its call');
    const w = await worker(s);
    asks(w, 5_000);
    w.say({ type: 'progress', progress: { event: 'round', round: 1 } });
    w.die({ code: null, signal: 'SIGKILL' });
    await s.scheduler.whenSettled(lost);
    t.match(s.store.usage.ofTurn(lost), { input_tokens: 904, output_tokens: 4_096, estimated: true });
    t.match(s.store.spending.newest('instance', 'day'), { tokens: 5_000, requests: 1 });
    t.same(s.store.reservations.all(), []);
    const early = s.accept('dies before');
    const v = await worker(s, 1);
    asks(v, 5_000);
    v.die({ code: null, signal: 'SIGKILL' });
    await s.scheduler.whenSettled(early);
    t.match(s.store.spending.newest('instance', 'day'), { tokens: 5_000, requests: 1 });
    t.same(s.store.reservations.all(), []);
  },
);

t.test('an ended turn holds nothing back, whatever its worker still asks', async (t) => {
  const s = scene(t, { intelligence: budget({ windows: [window('day', { tokens: 10_000 })] }) });
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(done());
  await s.scheduler.whenSettled(id);
  w.say({ type: 'budget_request', id: 1, estimate_tokens: 10 });
  t.same(s.store.reservations.all(), []);
});

t.test(
  'a supervisor that was lost leaves nothing held: what went out is charged, the rest given back',
  async (t) => {
    const s = scene(t, { intelligence: budget({ windows: [window('day', { tokens: 10_000 })] }), cap: 3 });
    const inCall = s.accept('in its call', 'a');
    s.accept('started', 'b');
    const ended = s.accept('ended long ago', 'c');
    await settleDown();
    const w = await worker(s, 0);
    asks(w, 5_000);
    (await worker(s, 2)).say(done());
    await s.scheduler.whenSettled(ended);
    const stale = { ...s.store.reservations.all()[0], turn_id: ended };
    s.store.transact('reserve_call', () =>
      s.store.reservations.put(stale as Parameters<typeof s.store.reservations.put>[0]),
    );
    t.equal(s.store.reservations.all().length, 3);
    recover(s.store, s.governor, MONDAY + 5);
    t.same(s.store.reservations.all(), []);
    t.match(s.store.spending.newest('instance', 'day'), { tokens: 5_000, requests: 1 });
    t.match(s.store.usage.ofTurn(inCall), { input_tokens: 904, output_tokens: 4_096, estimated: true });
  },
);
