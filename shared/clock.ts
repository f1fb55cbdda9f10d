// The only module that reads the clock or sets timers. Everything else takes a Clock, so tests can use a fake one.

export interface Clock {
  /** Wall time in milliseconds since the epoch. May jump; use it for records only. */
  now(): number;
  /** Milliseconds that only grow. Use it for limits and durations. */
  monotonic(): number;
  /** Calls back once after `delay_ms` (longer than 24 days included); the returned function cancels. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Longest delay one host timer can hold; beyond it the host would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

function after(delayMs: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, TIMER_MAX_MS);
    timer = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : callback()), stepMs);
  };
  arm(Math.max(0, delayMs));
  return () => clearTimeout(timer);
}

/** By process.hrtime: the first use of `performance` loads a module, which a short-lived worker need not pay. */
function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic,
  after,
};

/** Resolves after `delay_ms`, or at once when the signal fires; tells which. Never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<'elapsed' | 'aborted'> {
  if (signal?.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    const onAbort = (): void => {
      cancel();
      resolve('aborted');
    };
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve('elapsed');
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
