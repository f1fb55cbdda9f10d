// A time of the wall clock as something to wait for. A clock that is set and a machine that sleeps are noticed within a
// minute; nothing is polled otherwise.
import type { Clock } from '../../shared/clock.js';

const LOOK_MS = 60_000;

/** Calls back once when the time has come, never before this returns; the returned function cancels. */
export function wakeAt(clock: Clock, atMs: number, callback: () => void): () => void {
  let cancel: () => void;
  const look = (): void => {
    const leftMs = atMs - clock.now();
    cancel = leftMs <= 0 ? clock.after(0, callback) : clock.after(Math.min(leftMs, LOOK_MS), again);
  };
  const again = (): void => {
    if (clock.now() >= atMs) callback();
    else look();
  };
  look();
  return () => cancel();
}
