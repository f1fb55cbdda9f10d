// Messages that are delivered at a later time.
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Db } from './database.js';
import type { TimerRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

const COLUMNS = 'timer_id, due_at_ms, thread_id, workspace_id, principal, text, hop, created_at_ms';

export function timersTable(db: Db): Store['timers'] {
  const due = reading<TimerRow>(
    db,
    `SELECT ${COLUMNS} FROM timers WHERE due_at_ms <= ? ORDER BY due_at_ms, seq`,
  );
  const next = reading<{ due_at_ms: number }>(db, 'SELECT due_at_ms FROM timers ORDER BY due_at_ms LIMIT 1');
  const counted = reading<{ count: number }>(
    db,
    'SELECT count(*) AS count FROM (SELECT 1 FROM timers LIMIT ?)',
  );
  const insert = writing(db, `INSERT INTO timers (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const remove = writing(db, 'DELETE FROM timers WHERE timer_id = ?');
  return {
    due: (nowMs) => due.all(nowMs),
    nextDueMs: () => next.get()?.due_at_ms ?? null,
    countUpTo: (most) => counted.get(most)?.count ?? 0,
    insert: (row) => {
      const { timer_id, due_at_ms, thread_id, workspace_id, principal, hop, created_at_ms } = row;
      const text = wellFormed(row.text);
      insert(timer_id, due_at_ms, thread_id, workspace_id, principal, text, hop, created_at_ms);
    },
    remove: (timerId) => remove(timerId).changes > 0,
  };
}
