// A clock that stands still until the test moves it. Timers fire in order, with room for promises between them.
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.js';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  #time = 1_000;
  #wall = 1_700_000_000_000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#wall + this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { at: this.#time + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Sets the wall clock forward or back; time itself and its timers go on as before. */
  set(nowMs: number): void {
    this.#wall = nowMs - this.#time;
  }

  /** Timers that wait; none may be left when a turn is over. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Moves time on, firing what falls due, and lets everything that follows from it happen. */
  async advance(ms: number): Promise<void> {
    const until = this.#time + ms;
    await nextTick();
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#time = Math.max(this.#time, due.at);
      due.callback();
      await nextTick();
    }
    this.#time = until;
    await nextTick();
  }
}
