// What the operator has switched on. It stays on over restarts until it is switched off.
import type { Db } from './database.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

export function switchesTable(db: Db): Store['switches'] {
  const find = reading<{ name: string }>(db, 'SELECT name FROM switches WHERE name = ?');
  const on = writing(db, 'INSERT INTO switches (name, on_since_ms) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const off = writing(db, 'DELETE FROM switches WHERE name = ?');
  return {
    isOn: (name) => find.get(name) !== undefined,
    set: (name, wanted, nowMs) => {
      if (wanted) on(name, nowMs);
      else off(name);
    },
  };
}
