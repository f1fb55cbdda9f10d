// A real store in a directory of the test, with one thread and one queued turn to hang things on.
import { join } from 'node:path';
import type { Test } from 'tap';
import { openStore } from '../../supervisor/store/open.js';
import type { Store } from '../../supervisor/store/types.js';

export const THREAD = 'root';
export const TURN_ID = 'turn_1';

/** Opens the directory or fails the test with what the store says. The caller closes it. */
export function mustOpen(dir: string, onDamage: 'stop' | 'salvage' = 'stop', nowMs = 1_000): Store {
  const opened = openStore({ dir, on_damage: onDamage, nowMs });
  if (!opened.ok) throw new Error(`${opened.failure.kind}: ${opened.failure.message}`);
  return opened.store;
}

export function seedTurn(store: Store, turnId = TURN_ID): void {
  store.transact('accept_message', () => {
    const workspace = store.workspaces.ensure('/somewhere', 1_000);
    store.threads.ensure(THREAD, workspace.workspace_id, 'operator', 1_000);
    store.turns.insert({ turn_id: turnId, thread_id: THREAD, created_at_ms: 1_000 });
  });
}

/** A seeded store that closes with the test. */
export function testStore(t: Test): Store {
  const store = mustOpen(join(t.testdir({}), 'state'));
  t.teardown(() => store.close());
  seedTurn(store);
  return store;
}
