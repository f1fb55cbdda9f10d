// Turns and their state machine. A state changes only by a step that the machine has; the row keeps what a restart
// needs to know about the worker.
import { strict as assert } from 'node:assert';
import { TURN } from '../../shared/machines/turn.js';
import { step } from '../../shared/state-machine.js';
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Db } from './database.js';
import { decodeJson, encodeJson } from './payload.js';
import type { TurnFields, TurnOptions, TurnRow } from './rows.js';
import { type Bind, reading, writing } from './statement.js';
import type { Store } from './types.js';

const FIELDS = [
  'status',
  'reply',
  'error_code',
  'error_message',
  'end_requested',
  'model',
  'snapshot_hash',
  'worker_id',
  'pid',
  'pid_start',
  'rounds',
  'tool_calls',
  'created_at_ms',
  'started_at_ms',
  'ended_at_ms',
  'windows',
  'active_ms',
] as const satisfies readonly (keyof TurnFields)[];

type Stored = Omit<TurnRow, 'options'> & { readonly options: string };

const COLUMNS = ['turn_id', 'thread_id', 'state', ...FIELDS, 'parent_turn_id', 'options'].join(', ');

export function turnsTable(db: Db): Store['turns'] {
  const byId = reading<Stored>(db, `SELECT ${COLUMNS} FROM turns WHERE turn_id = ?`);
  const ofThread = reading<Stored>(db, `SELECT ${COLUMNS} FROM turns WHERE thread_id = ? ORDER BY seq`);
  const ofParent = reading<Stored>(db, `SELECT ${COLUMNS} FROM turns WHERE parent_turn_id = ? ORDER BY seq`);
  const openOfSubagents = reading<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM turns t JOIN threads h ON h.thread_id = t.thread_id
     WHERE t.state <> 'ended' AND h.parent_turn_id IS NOT NULL`,
  );
  const inStates = reading<Stored>(
    db,
    `SELECT ${COLUMNS} FROM turns WHERE state IN (SELECT value FROM json_each(?)) ORDER BY seq`,
  );
  const openBefore = reading<{ found: 1 }>(
    db,
    `SELECT 1 AS found FROM turns t JOIN turns o ON o.thread_id = t.thread_id AND o.seq < t.seq
     WHERE t.turn_id = ? AND o.state <> 'ended' AND o.turn_id <> ? LIMIT 1`,
  );
  const insert = writing(
    db,
    `INSERT INTO turns (turn_id, thread_id, state, created_at_ms, parent_turn_id, options)
     VALUES (?, ?, 'queued', ?, ?, ?)`,
  );
  const write = fieldWriter(db);
  return {
    get: (turnId) => {
      const row = byId.get(turnId);
      return row === undefined ? undefined : rowOf(row);
    },
    ofThread: (threadId) => ofThread.all(threadId).map(rowOf),
    hasOpenBefore: (turnId, exceptTurnId) => openBefore.get(turnId, exceptTurnId) !== undefined,
    ofParent: (turnId) => ofParent.all(turnId).map(rowOf),
    openOfSubagents: () => openOfSubagents.get()?.count ?? 0,
    inStates: (states) => inStates.all(JSON.stringify(states)).map(rowOf),
    insert: (row) => {
      const { turn_id, thread_id, created_at_ms, parent_turn_id = null, options = {} } = row;
      insert(turn_id, thread_id, created_at_ms, parent_turn_id, encodeJson(options));
    },
    transition: (turnId, event, fields = {}) => {
      const row = byId.get(turnId);
      assert(row !== undefined, `no turn ${turnId}`);
      write(turnId, fields, step('turn', TURN, row.state, event));
    },
    update: (turnId, fields) => write(turnId, fields),
  };
}

/** Writes the given fields, and the state where one is given, with one statement for each set of fields. */
function fieldWriter(db: Db): (turnId: string, fields: TurnFields, state?: TurnRow['state']) => void {
  const statements = new Map<string, ReturnType<typeof writing>>();
  return (turnId, fields, state) => {
    const names = FIELDS.filter((name) => fields[name] !== undefined);
    const columns: string[] = state === undefined ? names : ['state', ...names];
    if (columns.length === 0) return;
    const key = columns.join(' = ?, ');
    const run = statements.get(key) ?? writing(db, `UPDATE turns SET ${key} = ? WHERE turn_id = ?`);
    statements.set(key, run);
    const values: Bind[] = names.map((name) => healed(fields[name] ?? null));
    if (state !== undefined) values.unshift(state);
    assert(run(...values, turnId).changes === 1, `no turn ${turnId}`);
  };
}

function rowOf(row: Stored): TurnRow {
  return { ...row, options: decodeJson<TurnOptions>(row.options) };
}

function healed(value: string | number | null): Bind {
  return typeof value === 'string' ? wellFormed(value) : value;
}
