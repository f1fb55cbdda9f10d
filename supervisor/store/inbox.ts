// Accepted messages. A row is written before the sender hears "accepted", and is done when its turn has ended.
import { strict as assert } from 'node:assert';
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Db } from './database.js';
import type { InboxRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

const COLUMNS = 'event_id, turn_id, thread_id, principal, text, created_at_ms, producer, lane, hop';

export function inboxTable(db: Db): Store['inbox'] {
  const pending = reading<InboxRow>(db, `SELECT ${COLUMNS} FROM inbox WHERE done = 0 ORDER BY seq`);
  const byId = reading<InboxRow>(db, `SELECT ${COLUMNS} FROM inbox WHERE event_id = ?`);
  const ofTurn = reading<InboxRow>(db, `SELECT ${COLUMNS} FROM inbox WHERE turn_id = ?`);
  const insert = writing(db, `INSERT INTO inbox (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const done = writing(db, 'UPDATE inbox SET done = 1 WHERE event_id = ?');
  return {
    pending: () => pending.all(),
    get: (eventId) => byId.get(eventId),
    ofTurn: (turnId) => ofTurn.get(turnId),
    insert: (row) => {
      const text = wellFormed(row.text);
      insert(
        row.event_id,
        row.turn_id,
        row.thread_id,
        row.principal,
        text,
        row.created_at_ms,
        row.producer,
        row.lane,
        row.hop,
      );
    },
    markDone: (eventId) => {
      assert(done(eventId).changes === 1, `no inbox event ${eventId}`);
    },
  };
}
