// Names the snapshot of a turn in its row. Working the name out takes some milliseconds, so it waits until the turn is
// well under way, or over: a short turn must not be later for it.
import type { Clock } from '../../shared/clock.js';
import type { TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { Store } from '../store/types.js';

const UNDER_WAY_MS = 100;

interface NameParts {
  readonly store: Store;
  readonly clock: Clock;
  hashOf(snapshot: TurnSnapshot): string;
}

export class SnapshotName {
  readonly #parts: NameParts;
  readonly #turnId: string;
  #snapshot: TurnSnapshot | null;
  readonly #cancel: () => void;

  constructor(parts: NameParts, turnId: string, snapshot: TurnSnapshot) {
    this.#parts = parts;
    this.#turnId = turnId;
    this.#snapshot = snapshot;
    this.#cancel = parts.clock.after(UNDER_WAY_MS, () => this.#write());
  }

  /** The answer is on its way out and the worker on its way off: now is the time. */
  turnEnded(): void {
    this.#cancel();
    if (this.#snapshot !== null) setImmediate(() => this.#write());
  }

  #write(): void {
    const snapshot = this.#snapshot;
    if (snapshot === null) return;
    this.#snapshot = null;
    const { store, hashOf } = this.#parts;
    try {
      const fields = { snapshot_hash: hashOf(snapshot) };
      store.transact('name_snapshot', () => store.turns.update(this.#turnId, fields));
    } catch {
      // A turn without the name of its input is as good as any; what matters of it is recorded elsewhere, or is told there.
    }
  }
}
