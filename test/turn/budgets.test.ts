// What becomes of turns and calls that a budget has no room for: each tactic, on a real store.
import t from 'tap';
import { budget, window } from '../fakes/budget.js';
import { asks, MINUTE, MONDAY, scene, uses, whole } from '../fakes/budget-scene.js';
import { done, settleDown, worker } from '../fakes/dispatch-stage.js';

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
  await uses(w, 1, 40);
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
  await uses(two, 1, 60);
  t.same(asks(one, 150), { kind: 'go' });
});

t.test('a cancel during a wait is immediate, and leaves no timer', async (t) => {
  const s = scene(t, { intelligence: budget({ windows: [window('day', { requests: 1 })] }) });
  await whole(s, s.accept('first'), 0, 10);
  const id = s.accept('second');
  t.equal(s.clock.waiting, 1);
  t.equal(s.scheduler.requestEnd(id, 'cancel'), true);
  t.match(await s.scheduler.whenSettled(id), { status: 'cancelled', rounds: 0 });
  t.equal(s.clock.waiting, 0);
  const next = s.accept('third');
  await s.scheduler.close();
  t.equal(s.clock.waiting, 0, 'nor does the end of the supervisor');
  t.equal(s.store.turns.get(next)?.state, 'queued');
});

t.test('a cancelled wait makes way for what stood behind it', async (t) => {
  const windows = [window('day', { tokens: 1_000 })];
  const s = scene(t, { intelligence: budget({ windows }), estimate: (text) => Number(text) });
  await whole(s, s.accept('600'), 0, 600);
  const held = s.accept('500');
  const behind = s.accept('100');
  t.equal(s.store.turns.get(behind)?.state, 'queued', 'order on a thread is kept');
  s.scheduler.requestEnd(held, 'cancel');
  t.equal(s.store.turns.get(behind)?.state, 'starting');
});

t.test(
  'a clock that was set ends a wait that it makes untrue, and finds what was spent before',
  async (t) => {
    const s = scene(t, {
      intelligence: budget({ windows: [window('day', { requests: 1 })] }),
      estimate: 10,
    });
    await whole(s, s.accept('first'), 0, 10);
    const second = s.accept('second');
    s.clock.set(MONDAY + 25 * 60 * MINUTE);
    await s.clock.advance(MINUTE);
    await whole(s, second, 1, 10);
    const third = s.accept('third');
    s.clock.set(MONDAY);
    await s.clock.advance(MINUTE);
    t.equal(s.store.turns.get(third)?.state, 'queued', 'Monday is spent, whatever came between');
    t.same(s.live.at(-1), { type: 'budget_wait', until_ms: MONDAY + 24 * 60 * MINUTE });
    await s.clock.advance(24 * 60 * MINUTE);
    t.equal(s.store.turns.get(third)?.state, 'queued', 'and so is Tuesday');
    await s.clock.advance(24 * 60 * MINUTE);
    t.equal(s.store.turns.get(third)?.state, 'starting');
  },
);

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
    await uses(w, 1, 10);
    t.match(asks(w, 10), answer, tactic);
  }
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
    await uses(w, 1, 100);
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
  await uses(w, 1, 100);
  t.match(asks(w, 100), { kind: 'wait' });
  // 200 of 1000, less the burst of 50, at 500 an hour.
  t.match(s.live.at(-1), { type: 'budget_wait', until_ms: MONDAY + 18 * MINUTE });
  await s.clock.advance(18 * MINUTE);
  t.same(asks(w, 100), { kind: 'go' });
});
