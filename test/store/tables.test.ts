// Transactions and tables: what may be written, in which order it comes back, and text that must not break a thread.
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { JournalEvent } from '../../shared/journal.js';
import { CALL, CALL_STATES, type CallState, type CallTransition } from '../../shared/machines/call.js';
import { TURN, TURN_STATES, type TurnState, type TurnTransition } from '../../shared/machines/turn.js';
import type { Store } from '../../supervisor/store/types.js';
import { seedTurn, THREAD, TURN_ID, testStore } from '../fakes/open-store.js';

const LONE = 'half \ud83d pair';
const HEALED = 'half \ufffd pair';

/** Steps that lead to each state. */
const WAY_TO_TURN: Readonly<Record<TurnState, readonly TurnTransition[]>> = {
  queued: [],
  starting: ['dispatch'],
  running: ['dispatch', 'ready'],
  stopping: ['dispatch', 'stop'],
  ended: ['settle'],
};
const WAY_TO_CALL: Readonly<Record<CallState, readonly CallTransition[]>> = {
  requested: [],
  running: ['grant'],
  done: ['grant', 'finish'],
  denied: ['deny'],
  interrupted: ['grant', 'seal'],
  not_started: ['seal'],
};

function moveTurn(store: Store, turnId: string, event: TurnTransition): void {
  const fields = event === 'settle' ? ({ status: 'failed', ended_at_ms: 9 } as const) : {};
  store.turns.transition(turnId, event, fields);
}

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

t.test('a transaction is all or nothing', (t) => {
  const store = testStore(t);
  const fail = (): void =>
    store.transact('record_progress', () => {
      store.events.append(TURN_ID, THREAD, note('lost'), 1);
      throw new Error('in the middle');
    });
  t.throws(fail, /in the middle/);
  t.same(store.events.ofTurn(TURN_ID), []);
  store.transact('record_progress', () => store.events.append(TURN_ID, THREAD, note('kept'), 1));
  t.equal(store.events.ofTurn(TURN_ID).length, 1, 'the next one works');
  t.end();
});

t.test('a transaction gives back what its body gives', (t) => {
  t.equal(
    testStore(t).transact('recover', () => 42),
    42,
  );
  t.end();
});

t.test('a transaction inside another one is a mistake, and so is one whose body waits', (t) => {
  const store = testStore(t);
  t.throws(() => store.transact('recover', () => store.transact('recover', () => 1)), /inside another/);
  const waits = (): Promise<number> =>
    store.transact('recover', () => {
      store.events.append(TURN_ID, THREAD, note('lost'), 1);
      return Promise.resolve(1);
    });
  t.throws(waits, /synchronous/);
  t.same(store.events.ofTurn(TURN_ID), [], 'and nothing of it is kept');
  t.end();
});

t.test('nothing is written outside of a transaction', (t) => {
  const store = testStore(t);
  t.throws(() => store.events.append(TURN_ID, THREAD, note('x'), 1), /outside of transact/);
  t.throws(() => store.turns.update(TURN_ID, { rounds: 1 }), /outside of transact/);
  t.throws(() => store.memory.delete('x'), /outside of transact/);
  t.end();
});

t.test('a turn takes every step that its machine has, and no other', (t) => {
  const store = testStore(t);
  const events: readonly TurnTransition[] = ['dispatch', 'ready', 'stop', 'settle'];
  for (const state of TURN_STATES) {
    for (const event of events) {
      const turnId = `turn_${state}_${event}`;
      seedTurn(store, turnId);
      store.transact('recover', () => {
        for (const step of WAY_TO_TURN[state]) moveTurn(store, turnId, step);
      });
      t.equal(store.turns.get(turnId)?.state, state);
      const next = TURN[state][event];
      const go = (): void => store.transact('recover', () => moveTurn(store, turnId, event));
      if (next === undefined) t.throws(go, /no step/, `${state} by ${event}`);
      else go();
      t.equal(store.turns.get(turnId)?.state, next ?? state, `${state} by ${event}`);
    }
  }
  t.end();
});

t.test('a call takes every step that its machine has, and no other', (t) => {
  const store = testStore(t);
  const events: readonly CallTransition[] = ['grant', 'finish', 'deny', 'seal'];
  for (const state of CALL_STATES) {
    for (const event of events) {
      const callId = `call_${state}_${event}`;
      store.transact('record_intent', () => {
        newCall(store, callId);
        for (const step of WAY_TO_CALL[state]) store.calls.transition(callId, step);
      });
      const next = CALL[state][event];
      const go = (): CallState =>
        store.transact('record_result', () => store.calls.transition(callId, event));
      if (next === undefined) t.throws(go, /no step/, `${state} by ${event}`);
      else t.equal(go(), next, `${state} by ${event}`);
      t.equal(store.calls.get(callId)?.state, next ?? state);
    }
  }
  t.end();
});

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

t.test('memory forgets by time, lists by prefix and says when there is more', (t) => {
  const store = testStore(t);
  store.transact('state_tool', () => {
    for (const key of ['b', 'a%', 'a_1', 'a2'])
      store.memory.set({ key, value: key, updated_at_ms: 1, expires_at_ms: key === 'a2' ? 100 : null });
  });
  t.same(store.memory.list('', 10, 50), { keys: ['a%', 'a2', 'a_1', 'b'], truncated: false });
  t.same(store.memory.list('a', 2, 50), { keys: ['a%', 'a2'], truncated: true });
  t.same(store.memory.list('a%', 9, 50).keys, ['a%'], 'a prefix is text, not a pattern');
  t.equal(store.memory.get('a2', 99)?.value, 'a2');
  t.equal(store.memory.get('a2', 100), undefined);
  t.same(store.memory.list('a2', 9, 100), { keys: [], truncated: false });
  t.equal(
    store.transact('state_tool', () => store.memory.delete('b')),
    true,
  );
  t.equal(
    store.transact('state_tool', () => store.memory.delete('b')),
    false,
  );
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

const ARTIFACT = { thread_id: THREAD, turn_id: TURN_ID, mime: 'text/plain', created_at_ms: 1 };

t.test('an artifact takes a file over, knows its size and hash, and is read in parts', (t) => {
  const store = testStore(t);
  const spill = join(store.dir, 'spool', 'out');
  writeFileSync(spill, 'hello world', { mode: 0o644 });
  const row = store.transact('record_result', () =>
    store.artifacts.adopt(spill, { ...ARTIFACT, artifact_id: 'artifact_1', name: 'out' }),
  );
  t.match(row, { bytes: 11, sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' });
  t.notOk(existsSync(spill));
  t.same(store.artifacts.get('artifact_1'), row);
  const read = (offset: number, length: number): string =>
    Buffer.from(store.artifacts.read('artifact_1', offset, length)).toString();
  t.same([read(0, 5), read(6, 100), read(11, 5), read(500, 5)], ['hello', 'world', '', '']);
  t.end();
});

t.test('an artifact is never a link to something else', (t) => {
  const store = testStore(t);
  const link = join(store.dir, 'spool', 'out');
  symlinkSync('/etc/hostname', link);
  const adopt = (): unknown =>
    store.transact('record_result', () =>
      store.artifacts.adopt(link, { ...ARTIFACT, artifact_id: 'artifact_1', name: 'out' }),
    );
  t.throws(adopt, { code: 'ELOOP' });
  t.equal(store.artifacts.get('artifact_1'), undefined);
  t.same(readdirSync(join(store.dir, 'artifacts')), []);
  t.end();
});

t.test('artifacts of a thread are listed oldest first, by prefix and up to a limit', (t) => {
  const store = testStore(t);
  store.transact('state_tool', () => {
    for (const [index, name] of ['b1', 'a%', 'b2', 'b3'].entries())
      store.artifacts.create(Buffer.from(name), { ...ARTIFACT, artifact_id: `artifact_${index}`, name });
  });
  const names = (prefix: string, limit: number): string[] =>
    store.artifacts.list(THREAD, prefix, limit).map((row) => row.name);
  t.same(names('', 9), ['b1', 'a%', 'b2', 'b3']);
  t.same(names('b', 2), ['b1', 'b2']);
  t.same(names('%', 2), []);
  t.same(store.artifacts.list('other', '', 9), []);
  t.end();
});

t.test('a plan belongs to its thread and is replaced whole', (t) => {
  const store = testStore(t);
  t.equal(store.plans.get(THREAD), undefined);
  store.transact('state_tool', () => store.plans.set(THREAD, { goal: 'a' }, 1));
  store.transact('state_tool', () => store.plans.set(THREAD, { goal: 'b' }, 2));
  t.same(store.plans.get(THREAD), { goal: 'b' });
  t.equal(
    store.transact('state_tool', () => store.plans.clear(THREAD)),
    true,
  );
  t.equal(
    store.transact('state_tool', () => store.plans.clear(THREAD)),
    false,
  );
  t.end();
});
