// Merges what is streamed into at most one frame per item and interval: people read sixty frames a second, not six
// hundred. What waits is sent before any other frame, so order is kept; while nobody reads, it only grows by text.
import type { Clock } from '../shared/clock.js';
import type { ProgressEvent } from '../shared/ipc/progress.js';

type Delta = Extract<ProgressEvent, { event: 'delta' }>;

export const MERGE_MS = 16;
/** Unsent command output beyond this is dropped: it is only for people who watch, and the whole goes to the result. */
const OUTPUT_MAX_CHARS = 256 * 1024;
const DROPPED = '\n[… output left out: too fast to show …]\n';

export interface DeltaMergerParts {
  readonly clock: Clock;
  congested(): boolean;
  send(delta: Delta): void;
}

export class DeltaMerger {
  readonly #parts: DeltaMergerParts;
  readonly #waiting = new Map<string, Delta>();
  readonly #sentMs = new Map<string, number>();
  #cancelTimer: (() => void) | null = null;

  constructor(parts: DeltaMergerParts) {
    this.#parts = parts;
  }

  /** The first delta after a pause goes out at once. */
  add(delta: Delta): void {
    const key = `${delta.stream}:${delta.item_id}`;
    const held = this.#waiting.get(key);
    if (held !== undefined) {
      this.#waiting.set(key, { ...held, text: merged(held, delta) });
      return;
    }
    this.#waiting.set(key, delta);
    const sinceMs = this.#parts.clock.monotonic() - (this.#sentMs.get(key) ?? -MERGE_MS);
    if (sinceMs >= MERGE_MS && !this.#parts.congested()) this.#flushOne(key, delta);
    else this.#arm();
  }

  /** Sends everything that waits, whatever the pace. */
  flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    for (const [key, delta] of this.#waiting) this.#flushOne(key, delta);
  }

  #arm(): void {
    this.#cancelTimer ??= this.#parts.clock.after(MERGE_MS, () => {
      this.#cancelTimer = null;
      if (this.#parts.congested()) this.#arm();
      else this.flush();
    });
  }

  #flushOne(key: string, delta: Delta): void {
    this.#waiting.delete(key);
    this.#sentMs.set(key, this.#parts.clock.monotonic());
    this.#parts.send(delta);
  }
}

function merged(held: Delta, more: Delta): string {
  if (held.stream !== 'tool_output' || held.text.length + more.text.length <= OUTPUT_MAX_CHARS)
    return held.text + more.text;
  return held.text.endsWith(DROPPED) ? held.text : held.text + DROPPED;
}
