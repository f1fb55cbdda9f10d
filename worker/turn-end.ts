// When a turn must end though its work is not done: the supervisor says so, or the deadline passes. One signal for
// both, so that a model call, a wait and a tool need to watch one thing only.
import type { Clock } from '../shared/clock.js';
import { endReasonOf, type SupervisorLink } from './link.js';

/** How long calls that were stopped may take to report what they did. Shorter than the supervisor's own patience. */
const REPORT_MS = 1_000;

export interface TurnEnd {
  readonly signal: AbortSignal;
  /** Why the turn must end now; null while it may go on. */
  why(): 'cancelled' | 'deadline' | null;
  /** What is left of the deadline, never negative. */
  remainingMs(): number;
  /** The promise's value, or null as soon as the turn must end. */
  orEnd<T>(promise: Promise<T>): Promise<T | null>;
  /** The same with a short time to report after the end came. */
  orLeft<T>(promise: Promise<T>): Promise<T | null>;
  close(): void;
}

export function watchEnd(link: SupervisorLink, clock: Clock, deadlineMs: number): TurnEnd {
  const controller = new AbortController();
  const { signal } = controller;
  const endsAt = clock.monotonic() + deadlineMs;
  const remainingMs = (): number => Math.max(0, endsAt - clock.monotonic());
  const stopTimer = clock.after(deadlineMs, () => controller.abort('deadline'));
  const onLink = (): void => controller.abort(endReasonOf(link.signal));
  if (link.signal.aborted) onLink();
  else link.signal.addEventListener('abort', onLink, { once: true });
  let closed = false;
  let stopReport = (): void => undefined;
  const ended = new Promise<null>((resolve) => onAbort(signal, () => resolve(null)));
  const left = ended.then(
    () =>
      new Promise<null>((resolve) => {
        if (!closed) stopReport = clock.after(REPORT_MS, () => resolve(null));
      }),
  );
  return {
    signal,
    remainingMs,
    why() {
      if (link.signal.aborted) return endReasonOf(link.signal) === 'deadline' ? 'deadline' : 'cancelled';
      return remainingMs() <= 0 || signal.aborted ? 'deadline' : null;
    },
    orEnd: (promise) => Promise.race([promise, ended]),
    orLeft: (promise) => Promise.race([promise, left]),
    close() {
      closed = true;
      stopTimer();
      stopReport();
      link.signal.removeEventListener('abort', onLink);
    },
  };
}

function onAbort(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
}
