// The plan of a thread: one document, replaced whole. Its shape belongs to the plan tools.
import type { JsonObject } from '../../shared/json.js';
import type { Db } from './database.js';
import { decodeJson, encodeJson } from './payload.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

export function plansTable(db: Db): Store['plans'] {
  const byThread = reading<{ plan: string }>(db, 'SELECT plan FROM plans WHERE thread_id = ?');
  const set = writing(
    db,
    `INSERT INTO plans (thread_id, plan, updated_at_ms) VALUES (?, ?, ?)
     ON CONFLICT (thread_id) DO UPDATE SET plan = excluded.plan, updated_at_ms = excluded.updated_at_ms`,
  );
  const clear = writing(db, 'DELETE FROM plans WHERE thread_id = ?');
  return {
    get: (threadId) => {
      const row = byThread.get(threadId);
      return row === undefined ? undefined : decodeJson<JsonObject>(row.plan);
    },
    set: (threadId, plan, nowMs) => {
      set(threadId, encodeJson(plan), nowMs);
    },
    clear: (threadId) => clear(threadId).changes > 0,
  };
}
