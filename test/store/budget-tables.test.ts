// The tables of budgets: what calls cost, what was spent in a window, what is held back.
import t from 'tap';
import { seedTurn, THREAD, TURN_ID, testStore } from '../fakes/open-store.js';

t.test('the cost of a turn is the sum of its calls, and unknown when one of them is', (t) => {
  const store = testStore(t);
  const usage = { input_tokens: 10, output_tokens: 1, cached_tokens: 0, estimated: false };
  t.equal(store.usage.costOf(TURN_ID), null, 'no call, no figure');
  store.transact('record_progress', () => {
    store.usage.record(TURN_ID, 1, 'm', usage, 1, 250);
    store.usage.record(TURN_ID, 2, 'm', usage, 1, 0);
    store.usage.record(TURN_ID, 3, 'm', { ...usage, input_tokens: 0, output_tokens: 0 }, 1);
  });
  t.equal(store.usage.costOf(TURN_ID), 250, 'a call without tokens needs no price');
  store.transact('record_progress', () => store.usage.record(TURN_ID, 4, 'other', usage, 1));
  t.equal(store.usage.costOf(TURN_ID), null);
  store.transact('record_progress', () => store.usage.record(TURN_ID, 4, 'other', usage, 1, 50));
  t.equal(store.usage.costOf(TURN_ID), 300);
  t.end();
});

t.test('spending adds up in its window, and the newest of many windows are kept', (t) => {
  const store = testStore(t);
  const row = (startsAt: number, tokens: number) => ({
    payer: 'instance',
    per: 'second',
    starts_at_ms: startsAt,
    tokens,
    requests: 1,
    cost_micros: 7,
  });
  store.transact('record_progress', () => {
    store.spending.open({ ...row(5_000, 1), payer: 'thread:a' });
    store.spending.open(row(5_000, 10));
    store.spending.add(row(5_000, 4));
    store.spending.open(row(2_000, 3));
  });
  t.match(store.spending.get('instance', 'second', 5_000), { tokens: 14, requests: 2, cost_micros: 14 });
  t.equal(store.spending.get('instance', 'minute', 5_000), undefined);
  store.transact('record_progress', () => {
    for (let index = 0; index < 70; index += 1) store.spending.open(row(10_000 + index, 1));
  });
  t.equal(store.spending.get('instance', 'second', 5_000), undefined);
  t.equal(store.spending.get('instance', 'second', 10_005), undefined);
  t.match(store.spending.get('instance', 'second', 10_006), { tokens: 1 });
  t.match(store.spending.get('thread:a', 'second', 5_000), { tokens: 1 }, 'others are left alone');
  t.end();
});

t.test('a reservation is one per turn, and counts for its payers and its time', (t) => {
  const store = testStore(t);
  seedTurn(store, 'turn_2');
  seedTurn(store, 'turn_3');
  const row = (turnId: string, change: object) => ({
    turn_id: turnId,
    purpose: 'turn' as const,
    thread_id: THREAD,
    principal: 'ann',
    call_index: null,
    model: 'm',
    degraded: false,
    input_tokens: 10,
    output_tokens: 5,
    cost_micros: 2,
    at_ms: 100,
    ...change,
  });
  store.transact('reserve_call', () => {
    store.reservations.put(row(TURN_ID, { input_tokens: 999 }));
    store.reservations.put(row(TURN_ID, { call_index: 1 }));
    store.reservations.put(row('turn_2', { thread_id: 'other', at_ms: 200 }));
    store.reservations.put(row('turn_3', { principal: 'bob', degraded: true }));
  });
  const held = (scope: 'instance' | 'thread' | 'principal', name: string, change: object = {}) =>
    store.reservations.held({
      payer: { scope, name },
      exceptTurnId: 'turn_9',
      withDegraded: true,
      fromMs: 0,
      beforeMs: 1_000,
      ...change,
    }).tokens;
  t.equal(held('instance', ''), 45);
  t.equal(held('instance', '', { withDegraded: false }), 30);
  t.equal(held('instance', '', { exceptTurnId: TURN_ID }), 30);
  t.equal(held('instance', '', { beforeMs: 200 }), 30);
  t.equal(held('instance', '', { fromMs: 101 }), 15);
  t.equal(held('thread', THREAD), 30);
  t.equal(held('principal', 'ann'), 30);
  t.equal(held('principal', 'nobody'), 0);
  t.match(store.reservations.get(TURN_ID, 'turn'), { call_index: 1, degraded: false });
  store.transact('reserve_call', () => store.reservations.remove(TURN_ID, 'turn'));
  t.equal(store.reservations.get(TURN_ID, 'turn'), undefined);
  t.same(
    store.reservations.all().map(({ turn_id }) => turn_id),
    ['turn_2', 'turn_3'],
  );
  t.end();
});
