// The books of budgets on a real store: what is held back, charged and given back, whatever becomes of a turn.
import t from 'tap';
import { recover } from '../../supervisor/dispatch/recover.js';
import { budget, window } from '../fakes/budget.js';
import { asks, MINUTE, MONDAY, scene, uses } from '../fakes/budget-scene.js';
import { done, settleDown, worker } from '../fakes/dispatch-stage.js';

t.test('without a budget nothing is asked, held back or counted', async (t) => {
  const s = scene(t, {});
  const id = s.accept('hello');
  const w = await worker(s);
  t.match(w.sent[0], { type: 'turn', snapshot: { budget_admission: false } });
  t.same(asks(w, 10 ** 9), { kind: 'go' });
  await uses(w, 1, 100);
  t.same(s.store.reservations.all(), []);
  t.equal(s.store.spending.get('instance', 'day', MONDAY), undefined);
  t.equal(s.store.usage.costOf(id), null);
});

t.test('what a turn may take is held back with its dispatch, and settled call by call', async (t) => {
  const s = scene(t, { intelligence: budget({ windows: [window('day', { tokens: 10_000 })] }) });
  s.accept('hello');
  const w = await worker(s);
  t.match(s.store.reservations.all(), [{ purpose: 'turn', call_index: null, input_tokens: 100 }]);
  t.same(asks(w, 5_000), { kind: 'go' });
  t.match(s.store.reservations.all(), [{ call_index: 1, input_tokens: 904, output_tokens: 4_096 }]);
  await uses(w, 1, 300);
  t.same(s.store.reservations.all(), []);
  t.match(s.store.spending.get('instance', 'day', MONDAY), {
    tokens: 300,
    requests: 1,
    starts_at_ms: MONDAY,
  });
  t.same(asks(w, 9_700), { kind: 'go' });
  await uses(w, 2, 9_700);
  t.match(asks(w, 1), { kind: 'wait', wait_ms: MINUTE });
  t.match(s.live.at(-1), { type: 'budget_wait', until_ms: MONDAY + 24 * 60 * MINUTE });
});

t.test('on the cheaper model windows are not charged, the lifetime is, and it ends', async (t) => {
  const prices = {
    cheap: { input: 1, output: 1, cached: null, written: null },
    m: { input: 9, output: 9, cached: null, written: null },
  };
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
  await uses(w, 1, 100);
  t.same(asks(w, 100), { kind: 'go', model: 'cheap' });
  await uses(w, 2, 100, 'cheap-2026-01');
  t.match(s.store.spending.get('instance', 'day', MONDAY), { tokens: 100 });
  t.match(s.store.spending.get('instance', 'lifetime', 0), { tokens: 200, cost_micros: 1_000 });
  t.equal(s.store.usage.costOf(id), 1_000, '900 and 100 millionths, by the model that was asked');
  t.match(asks(w, 100), { kind: 'stop', code: 'exhausted_tokens', reason: /lifetime budget of 250 tokens/ });
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
  const prices = { builtin: { input: 2.5, output: 10, cached: 0.25, written: null } };
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
  await settleDown();
  t.equal(s.store.usage.costOf(id), 2_375);
  t.match(s.store.spending.get('instance', 'day', MONDAY), { cost_micros: 2_375 });
  t.match(s.store.events.ofTurn(id).at(-1)?.event, { kind: 'usage', cost_micros: 2_375 });
  t.match(asks(w, 4_800), { kind: 'wait' }, '4096 of output alone would cost 40 960');
  await uses(w, 2, 10, 'unknown-model');
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
    t.match(s.store.spending.get('instance', 'day', MONDAY), { tokens: 5_000, requests: 1 });
    t.same(s.store.reservations.all(), []);
    const early = s.accept('dies before');
    const v = await worker(s, 1);
    asks(v, 5_000);
    v.die({ code: null, signal: 'SIGKILL' });
    await s.scheduler.whenSettled(early);
    t.match(s.store.spending.get('instance', 'day', MONDAY), { tokens: 5_000, requests: 1 });
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
    t.match(s.store.spending.get('instance', 'day', MONDAY), { tokens: 5_000, requests: 1 });
    t.match(s.store.usage.ofTurn(inCall), { input_tokens: 904, output_tokens: 4_096, estimated: true });
  },
);
