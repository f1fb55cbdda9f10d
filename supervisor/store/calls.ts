// Tool calls and their state machine: what was asked, and how far it came. The results are in the journal.
import { strict as assert } from 'node:assert';
import type { JsonObject } from '../../shared/json.js';
import { CALL } from '../../shared/machines/call.js';
import { step } from '../../shared/state-machine.js';
import type { Db } from './database.js';
import { decodeJson, encodeJson } from './payload.js';
import type { CallRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

type Stored = Omit<CallRow, 'arguments'> & { readonly arguments: string };

const COLUMNS = 'call_id, turn_id, tool, call_index AS "index", state, arguments, created_at_ms';

export function callsTable(db: Db): Store['calls'] {
  const byId = reading<Stored>(db, `SELECT ${COLUMNS} FROM tool_calls WHERE call_id = ?`);
  const openOf = reading<Stored>(
    db,
    `SELECT ${COLUMNS} FROM tool_calls WHERE turn_id = ? AND state IN ('requested', 'running') ORDER BY seq`,
  );
  const insert = writing(
    db,
    `INSERT INTO tool_calls (call_id, turn_id, tool, call_index, state, arguments, created_at_ms)
     VALUES (?, ?, ?, ?, 'requested', ?, ?)`,
  );
  const move = writing(db, 'UPDATE tool_calls SET state = ? WHERE call_id = ?');
  return {
    insert: (row) => {
      const args = encodeJson(row.arguments);
      insert(row.call_id, row.turn_id, row.tool, row.index, args, row.created_at_ms);
    },
    get: (callId) => {
      const row = byId.get(callId);
      return row === undefined ? undefined : callOf(row);
    },
    openOf: (turnId) => openOf.all(turnId).map(callOf),
    transition: (callId, event) => {
      const row = byId.get(callId);
      assert(row !== undefined, `no call ${callId}`);
      const state = step('call', CALL, row.state, event);
      move(state, callId);
      return state;
    },
  };
}

function callOf(row: Stored): CallRow {
  return { ...row, arguments: decodeJson<JsonObject>(row.arguments) };
}
