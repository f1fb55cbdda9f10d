// Notes that the agent keeps for itself across threads. A value past its time is not there, whether or not it was
// swept; sweeping happens with the next write.
import type { JsonValue } from '../../shared/json.js';
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Db } from './database.js';
import { decodeJson, encodeJson } from './payload.js';
import type { MemoryRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

type Stored = Omit<MemoryRow, 'value'> & { readonly value: string };

const LIVE = '(expires_at_ms IS NULL OR expires_at_ms > ?)';

export function memoryTable(db: Db): Store['memory'] {
  const byKey = reading<Stored>(
    db,
    `SELECT key, value, updated_at_ms, expires_at_ms FROM memory WHERE key = ? AND ${LIVE}`,
  );
  const keys = reading<{ key: string }>(
    db,
    `SELECT key FROM memory WHERE substr(key, 1, length(?)) = ? AND ${LIVE} ORDER BY key LIMIT ?`,
  );
  const set = writing(
    db,
    `INSERT INTO memory (key, value, updated_at_ms, expires_at_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at_ms = excluded.updated_at_ms,
       expires_at_ms = excluded.expires_at_ms`,
  );
  const sweep = writing(db, 'DELETE FROM memory WHERE expires_at_ms <= ?');
  const remove = writing(db, 'DELETE FROM memory WHERE key = ?');
  return {
    get: (key, nowMs) => {
      const row = byKey.get(key, nowMs);
      return row === undefined ? undefined : { ...row, value: decodeJson<JsonValue>(row.value) };
    },
    set: (row) => {
      sweep(row.updated_at_ms);
      set(wellFormed(row.key), encodeJson(row.value), row.updated_at_ms, row.expires_at_ms);
    },
    list: (prefix, limit, nowMs) => {
      const found = keys.all(prefix, prefix, nowMs, limit + 1).map((row) => row.key);
      return { keys: found.slice(0, limit), truncated: found.length > limit };
    },
    delete: (key) => remove(key).changes > 0,
  };
}
