// What is done for a turn ends when the turn must end, whoever does it and however long that takes.

/** The promise's value, or null as soon as the signal fires. */
export function untilStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const stopped = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  return Promise.race([promise.then((value) => (signal.aborted ? null : value)), stopped]);
}
