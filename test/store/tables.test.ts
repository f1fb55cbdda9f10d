// Tables: what comes back, in which order, and text that must not break a thread.
import { join } from 'node:path';
import t from 'tap';
import type { JournalEvent } from '../../shared/journal.js';
import { connect } from '../../supervisor/store/database.js';
import type { Store } from '../../supervisor/store/types.js';
import { seedTurn, THREAD, TURN_ID, testStore } from '../fakes/open-store.js';

const LONE = 'half \ud83d pair';
const HEALED = 'half \ufffd pair';

function newCall(store: Store, callId: string, index = 0, args = {}): void {
  store.calls.insert({
    call_id: callId,
    turn_id: TURN_ID,
    tool: 'exec_command',
    index,
    arguments: args,
    created_at_ms: 5,
  });
}

const note = (text: string): JournalEvent => ({ kind: 'note', text });

t.test('a turn keeps the fields it is given, and an ended one has a status', (t) => {
  const store = testStore(t);
  store.transact('dispatch_turn', () => {
    store.turns.transition(TURN_ID, 'dispatch', { model: 'm', pid: 12, pid_start: '345', started_at_ms: 7 });
    store.turns.update(TURN_ID, { rounds: 3, worker_id: 'worker_1' });
    store.turns.update(TURN_ID, {});
  });
  t.match(store.turns.get(TURN_ID), {
    state: 'starting',
    model: 'm',
    pid: 12,
    pid_start: '345',
    started_at_ms: 7,
    rounds: 3,
    worker_id: 'worker_1',
    status: null,
  });
  store.transact('worker_ready', () => store.turns.update(TURN_ID, { pid: null }));
  t.equal(store.turns.get(TURN_ID)?.pid, null, 'null is a value');
  t.throws(() => store.transact('settle_turn', () => store.turns.transition(TURN_ID, 'settle')), /CHECK/);
  t.throws(() => store.transact('settle_turn', () => store.turns.update('turn_x', { rounds: 1 })), /no turn/);
  t.equal(store.turns.get('turn_x'), undefined);
  t.end();
});

t.test('turns come back in the order in which they were accepted, even when the clock went back', (t) => {
  const store = testStore(t);
  store.transact('accept_message', () => {
    store.turns.insert({ turn_id: 'turn_b', thread_id: THREAD, created_at_ms: 500 });
    store.turns.insert({ turn_id: 'turn_a', thread_id: THREAD, created_at_ms: 400 });
  });
  t.same(
    store.turns.ofThread(THREAD).map((turn) => turn.turn_id),
    [TURN_ID, 'turn_b', 'turn_a'],
  );
  store.transact('dispatch_turn', () => store.turns.transition('turn_b', 'dispatch'));
  t.same(
    store.turns.inStates(['starting', 'queued']).map((turn) => turn.turn_id),
    [TURN_ID, 'turn_b', 'turn_a'],
  );
  t.same(store.turns.inStates(['running', 'ended']), []);
  t.end();
});

t.test('a message is pending until it is done, oldest first', (t) => {
  const store = testStore(t);
  seedTurn(store, 'turn_2');
  store.transact('accept_message', () => {
    for (const [eventId, turnId] of [['event_b', TURN_ID] as const, ['event_a', 'turn_2'] as const])
      store.inbox.insert({
        event_id: eventId,
        turn_id: turnId,
        thread_id: THREAD,
        principal: 'operator',
        text: `${LONE} \0 end`,
        created_at_ms: 1,
        producer: 'client',
        lane: 'background',
        hop: 2,
      });
  });
  t.same(
    store.inbox.pending().map((row) => row.event_id),
    ['event_b', 'event_a'],
  );
  t.equal(store.inbox.ofTurn(TURN_ID)?.text, `${HEALED} \0 end`);
  store.transact('settle_turn', () => store.inbox.markDone('event_b'));
  t.same(
    store.inbox.pending().map((row) => row.event_id),
    ['event_a'],
  );
  t.throws(() => store.transact('settle_turn', () => store.inbox.markDone('event_x')), /no inbox event/);
  t.end();
});

t.test('events come back as they were written, in one order over the whole store', (t) => {
  const store = testStore(t);
  seedTurn(store, 'turn_2');
  const events: JournalEvent[] = [
    { kind: 'user_message', item_id: 'i', text: 'hello', principal: 'operator' },
    {
      kind: 'tool_result',
      call_id: 'call_1',
      tool: 'x',
      content: { deep: [1, { nul: 'a\0b', emoji: '😀' }] },
      is_error: false,
      end: 'done',
      duration_ms: 1,
    },
  ];
  const seqs = store.transact('record_progress', () => [
    store.events.append(TURN_ID, THREAD, events[0] as JournalEvent, 10),
    store.events.append('turn_2', THREAD, note('between'), 11),
    store.events.append(TURN_ID, THREAD, events[1] as JournalEvent, 9),
  ]);
  t.same(
    [...seqs].sort((left, right) => left - right),
    seqs,
    'positions grow',
  );
  t.same(
    store.events.ofTurn(TURN_ID).map((row) => row.event),
    events,
  );
  t.same(
    store.events.ofThread(THREAD).map((row) => row.seq),
    seqs,
  );
  t.match(store.events.ofTurn(TURN_ID, seqs[0]), [
    { seq: seqs[2], turn_id: TURN_ID, thread_id: THREAD, at_ms: 9 },
  ]);
  t.same(store.events.ofThread('other'), []);
  t.end();
});

t.test(
  'half a surrogate pair never comes back from the store, wherever it stood; a NUL and a whole pair do',
  (t) => {
    const store = testStore(t);
    const value = { [LONE]: [LONE, { inner: `${LONE}\0` }], plain: 'escaped \\ud83d and 😀' };
    const healed = { [HEALED]: [HEALED, { inner: `${HEALED}\0` }], plain: 'escaped \\ud83d and 😀' };
    store.transact('state_tool', () => {
      store.events.append(TURN_ID, THREAD, note(LONE), 1);
      newCall(store, 'call_1', 0, value);
      store.memory.set({ key: 'k', value, updated_at_ms: 1, expires_at_ms: null });
      store.plans.set(THREAD, value, 1);
      store.turns.transition(TURN_ID, 'settle', {
        status: 'failed',
        reply: LONE,
        error_message: `${LONE}\0`,
      });
    });
    t.same(store.events.ofTurn(TURN_ID)[0]?.event, note(HEALED));
    t.same(store.calls.get('call_1')?.arguments, healed);
    t.same(store.memory.get('k', 1)?.value, healed);
    t.same(store.plans.get(THREAD), healed);
    t.match(store.turns.get(TURN_ID), { reply: HEALED, error_message: `${HEALED}\0` });
    t.end();
  },
);

t.test('text is healed on its way in, and once more on its way out of an old row', (t) => {
  const store = testStore(t);
  store.transact('record_progress', () => store.events.append(TURN_ID, THREAD, note(LONE), 1));
  const db = connect(join(store.dir, 'turnd.db'));
  t.teardown(() => db.close());
  const stored = db.prepare<[], string>('SELECT payload FROM turn_events').pluck();
  t.equal(stored.get(), JSON.stringify(note(HEALED)));
  db.prepare('UPDATE turn_events SET payload = ?').run(JSON.stringify(note(LONE)));
  t.match(stored.get(), /\\ud83d/);
  t.same(store.events.ofTurn(TURN_ID)[0]?.event, note(HEALED));
  t.end();
});

t.test('a value nested without end is kept as far as it can be read back', (t) => {
  const store = testStore(t);
  let deep: object = {};
  for (let level = 0; level < 100_000; level += 1) deep = { deep };
  store.transact('state_tool', () => newCall(store, 'call_1', 0, deep));
  t.match(JSON.stringify(store.calls.get('call_1')?.arguments), /nested too deep/);
  t.end();
});

t.test('open calls are those that were asked for or run, in their order', (t) => {
  const store = testStore(t);
  store.transact('record_intent', () => {
    for (const [index, callId] of ['call_c', 'call_a', 'call_b'].entries())
      newCall(store, callId, index, { index });
    store.calls.transition('call_c', 'grant');
    store.calls.transition('call_a', 'deny');
  });
  t.match(store.calls.openOf(TURN_ID), [
    { call_id: 'call_c', state: 'running', index: 0, arguments: { index: 0 } },
    { call_id: 'call_b', state: 'requested', index: 2 },
  ]);
  t.equal(store.calls.get('call_x'), undefined);
  t.throws(() => store.transact('record_result', () => store.calls.transition('call_x', 'seal')), /no call/);
  t.end();
});

t.test('usage adds up over the calls of a turn; the same call again replaces its row', (t) => {
  const store = testStore(t);
  t.same(store.usage.ofTurn(TURN_ID), {
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    estimated: false,
  });
  const usage = { input_tokens: 100, output_tokens: 10, cached_tokens: 40, estimated: false };
  store.transact('record_progress', () => {
    store.usage.record(TURN_ID, 0, 'm', { ...usage, input_tokens: 999, estimated: true }, 1);
    store.usage.record(TURN_ID, 0, 'm', usage, 2);
    store.usage.record(TURN_ID, 1, 'm', usage, 3);
  });
  t.same(store.usage.ofTurn(TURN_ID), {
    input_tokens: 200,
    output_tokens: 20,
    cached_tokens: 80,
    estimated: false,
  });
  store.transact('record_progress', () =>
    store.usage.record(TURN_ID, 2, 'm', { ...usage, estimated: true }, 4),
  );
  t.equal(store.usage.ofTurn(TURN_ID).estimated, true, 'one guess makes the sum one');
  t.end();
});

t.test('a workspace and a thread are made once', (t) => {
  const store = testStore(t);
  const [first, second] = store.transact('accept_message', () => [
    store.workspaces.ensure('/w', 1),
    store.workspaces.ensure('/w', 2),
  ]);
  t.same(first, second);
  t.same(store.workspaces.get(first?.workspace_id ?? ''), first);
  store.transact('accept_message', () =>
    store.threads.ensure(THREAD, first?.workspace_id ?? '', 'somebody', 9),
  );
  t.match(store.threads.list(), [{ thread_id: THREAD, owner: 'operator', created_at_ms: 1_000 }]);
  t.equal(store.threads.list().length, 1);
  t.throws(
    () => store.transact('accept_message', () => store.threads.ensure('t2', 'nowhere', 'x', 1)),
    /FOREIGN KEY/,
  );
  t.end();
});
