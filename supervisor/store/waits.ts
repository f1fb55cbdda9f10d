// What turns wait for. A wait is open until it is answered, together with the result of its call, or its turn ends.
import type { JsonObject } from '../../shared/json.js';
import type { Db } from './database.js';
import { decodeJson, encodeJson } from './payload.js';
import type { WaitRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

type Stored = Omit<WaitRow, 'subject' | 'open'> & { readonly subject: string; readonly open: number };

const COLUMNS = 'wait_id, turn_id, thread_id, tool, subject, wake_at_ms, open, created_at_ms';

export function waitsTable(db: Db): Store['waits'] {
  const byId = reading<Stored>(db, `SELECT ${COLUMNS} FROM waits WHERE wait_id = ?`);
  const openOf = reading<Stored>(
    db,
    `SELECT ${COLUMNS} FROM waits WHERE turn_id = ? AND open = 1 ORDER BY seq`,
  );
  const allOpen = reading<Stored>(db, `SELECT ${COLUMNS} FROM waits WHERE open = 1 ORDER BY seq`);
  const insert = writing(
    db,
    `INSERT INTO waits (wait_id, turn_id, thread_id, tool, subject, wake_at_ms, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const close = writing(db, 'UPDATE waits SET open = 0 WHERE wait_id = ? AND open = 1');
  return {
    get: (waitId) => {
      const row = byId.get(waitId);
      return row === undefined ? undefined : rowOf(row);
    },
    openOf: (turnId) => openOf.all(turnId).map(rowOf),
    allOpen: () => allOpen.all().map(rowOf),
    insert: (row) => {
      const { wait_id, turn_id, thread_id, tool, subject, wake_at_ms, created_at_ms } = row;
      insert(wait_id, turn_id, thread_id, tool, encodeJson(subject), wake_at_ms, created_at_ms);
    },
    close: (waitId) => close(waitId).changes > 0,
  };
}

function rowOf(row: Stored): WaitRow {
  return { ...row, subject: decodeJson<JsonObject>(row.subject), open: row.open === 1 };
}
