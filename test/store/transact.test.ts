// Transactions: all or nothing, one at a time; and the steps of the two state machines, each tried from each state.
import { join } from 'node:path';
import t from 'tap';
import type { JournalEvent } from '../../shared/journal.js';
import { CALL, CALL_STATES, type CallState, type CallTransition } from '../../shared/machines/call.js';
import { TURN, TURN_STATES, type TurnState, type TurnTransition } from '../../shared/machines/turn.js';
import { connect } from '../../supervisor/store/database.js';
import { transactOf } from '../../supervisor/store/transact.js';
import type { Store } from '../../supervisor/store/types.js';
import { seedTurn, THREAD, TURN_ID, testStore } from '../fakes/open-store.js';

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

function newCall(store: Store, callId: string): void {
  store.calls.insert({
    call_id: callId,
    turn_id: TURN_ID,
    tool: 'x',
    index: 0,
    arguments: {},
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

t.test('a lock that somebody else does not give back is told as busy, and nothing is written', (t) => {
  const store = testStore(t);
  const file = join(store.dir, 'turnd.db');
  const db = connect(file, { busyTimeoutMs: 20 });
  const other = connect(file);
  const write = (): unknown => db.prepare("UPDATE turns SET reply = 'written'").run();
  const reply = (): unknown => store.turns.get(TURN_ID)?.reply;
  other.exec('BEGIN IMMEDIATE');
  t.throws(() => transactOf(db)('settle_turn', write), {
    code: 'state_in_use',
    message: /locked; try again/,
  });
  other.exec('ROLLBACK');
  t.equal(reply(), '');
  transactOf(db)('settle_turn', write);
  t.equal(reply(), 'written', 'and the same again works once the lock is gone');
  other.close();
  db.close();
  t.end();
});
