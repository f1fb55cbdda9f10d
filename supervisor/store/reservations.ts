// What turns hold back of their budgets for calls that are not settled yet. One row per turn and purpose.
import type { Db } from './database.js';
import type { Held, ReservationRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

type Stored = Omit<ReservationRow, 'degraded'> & { readonly degraded: number };

const COLUMNS =
  'turn_id, purpose, thread_id, principal, call_index, model, degraded, input_tokens, output_tokens, cost_micros, at_ms';

/** Sums of all reservations of a time, but those of one turn. */
const HELD = `SELECT coalesce(sum(input_tokens + output_tokens), 0) AS tokens, count(*) AS requests,
    coalesce(sum(cost_micros), 0) AS cost_micros
  FROM reservations WHERE turn_id <> ? AND degraded <= ? AND at_ms >= ? AND at_ms < ?`;

export function reservationsTable(db: Db): Store['reservations'] {
  const byTurn = reading<Stored>(db, `SELECT ${COLUMNS} FROM reservations WHERE turn_id = ? AND purpose = ?`);
  const all = reading<Stored>(db, `SELECT ${COLUMNS} FROM reservations ORDER BY seq`);
  const ofAll = reading<Held>(db, HELD);
  const ofThread = reading<Held>(db, `${HELD} AND thread_id = ?`);
  const ofPrincipal = reading<Held>(db, `${HELD} AND principal = ?`);
  const insert = writing(
    db,
    `INSERT OR REPLACE INTO reservations (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const remove = writing(db, 'DELETE FROM reservations WHERE turn_id = ? AND purpose = ?');
  return {
    get: (turnId, purpose) => {
      const row = byTurn.get(turnId, purpose);
      return row === undefined ? undefined : rowOf(row);
    },
    all: () => all.all().map(rowOf),
    held: ({ payer, exceptTurnId, withDegraded, fromMs, beforeMs }) => {
      const binds = [exceptTurnId, withDegraded ? 1 : 0, fromMs, beforeMs];
      if (payer.scope === 'thread') return ofThread.get(...binds, payer.name) ?? NOTHING;
      if (payer.scope === 'principal') return ofPrincipal.get(...binds, payer.name) ?? NOTHING;
      return ofAll.get(...binds) ?? NOTHING;
    },
    put: (row) => {
      insert(
        row.turn_id,
        row.purpose,
        row.thread_id,
        row.principal,
        row.call_index,
        row.model,
        row.degraded ? 1 : 0,
        row.input_tokens,
        row.output_tokens,
        row.cost_micros,
        row.at_ms,
      );
    },
    remove: (turnId, purpose) => {
      remove(turnId, purpose);
    },
  };
}

const NOTHING: Held = { tokens: 0, requests: 0, cost_micros: 0 };

function rowOf(row: Stored): ReservationRow {
  return { ...row, degraded: row.degraded === 1 };
}
