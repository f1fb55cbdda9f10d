// May a queued turn start now? Pure: it sees who waits and who runs, and says who may go. No clock, no store.

export interface Waiting {
  readonly turnId: string;
  readonly threadId: string;
}

export interface GateView {
  /** In order of acceptance. */
  readonly queued: readonly Waiting[];
  readonly running: readonly Waiting[];
  readonly maxParallelTurns: number;
  /** Closed while the supervisor ends: nothing new starts. */
  readonly closed: boolean;
}

/**
 * The turns that may start now, in order: under the cap, and one at a time on each thread. A held turn keeps its place;
 * others overtake. `start` is offered each of them at once and may decline; it then takes no place, but nothing behind
 * it on its thread goes before it.
 */
export function admit(view: GateView, start: (turn: Waiting) => boolean = () => true): Waiting[] {
  if (view.closed) return [];
  const busy = new Set(view.running.map((turn) => turn.threadId));
  const admitted: Waiting[] = [];
  for (const turn of view.queued) {
    if (view.running.length + admitted.length >= view.maxParallelTurns) break;
    if (busy.has(turn.threadId)) continue;
    busy.add(turn.threadId);
    if (start(turn)) admitted.push(turn);
  }
  return admitted;
}
