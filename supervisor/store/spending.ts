// What each payer of a budget spent, window by window.
import type { Db } from './database.js';
import type { SpendingRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

/** Windows of one payer and length that are kept: enough to find a window again after the clock was set back. */
const KEPT = 64;

const COLUMNS = 'payer, per, starts_at_ms, tokens, requests, cost_micros';

export function spendingTable(db: Db): Store['spending'] {
  const one = reading<SpendingRow>(
    db,
    `SELECT ${COLUMNS} FROM spending WHERE payer = ? AND per = ? AND starts_at_ms = ?`,
  );
  const insert = writing(db, `INSERT INTO spending (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
  const add = writing(
    db,
    `UPDATE spending SET tokens = tokens + ?, requests = requests + ?, cost_micros = cost_micros + ?
     WHERE payer = ? AND per = ? AND starts_at_ms = ?`,
  );
  const forget = writing(
    db,
    `DELETE FROM spending WHERE payer = ? AND per = ? AND seq NOT IN
       (SELECT seq FROM spending WHERE payer = ? AND per = ? ORDER BY seq DESC LIMIT ${KEPT})`,
  );
  return {
    get: (payer, per, startsAtMs) => one.get(payer, per, startsAtMs),
    open: (row) => {
      insert(row.payer, row.per, row.starts_at_ms, row.tokens, row.requests, row.cost_micros);
      forget(row.payer, row.per, row.payer, row.per);
    },
    add: (row) => {
      add(row.tokens, row.requests, row.cost_micros, row.payer, row.per, row.starts_at_ms);
    },
  };
}
