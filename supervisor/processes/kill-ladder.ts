// The one way to end a worker, whatever the reason. Pure: what is the next step, and when.
//
//   cancel frame ──cancel grace──▶ SIGTERM to the group ──kill grace──▶ SIGKILL to the tree ──give-up time──▶ give up
//
// `now` jumps to SIGKILL, from any step. SIGKILL also ends what SIGSTOP stopped, so no step needs the worker's help.

export type Rung = 'cancel' | 'term' | 'kill' | 'give_up';

export interface LadderLimits {
  readonly cancelGraceMs: number;
  readonly killGraceMs: number;
  /** How long a killed process may take to be gone: one in uninterruptible sleep may never be. */
  readonly giveUpMs: number;
}

export interface Ladder {
  /** The step to take now. */
  readonly rung: Rung;
  /** Monotonic time of the step after it; null after the last one. */
  readonly nextAtMs: number | null;
}

function at(rung: Rung, limits: LadderLimits, nowMs: number): Ladder {
  const waits: Record<Rung, number | null> = {
    cancel: limits.cancelGraceMs,
    term: limits.killGraceMs,
    kill: limits.giveUpMs,
    give_up: null,
  };
  const waitMs = waits[rung];
  return { rung, nextAtMs: waitMs === null ? null : nowMs + waitMs };
}

const NEXT: Record<Rung, Rung> = { cancel: 'term', term: 'kill', kill: 'give_up', give_up: 'give_up' };

/** The first step. */
export function startLadder(limits: LadderLimits, nowMs: number, now: boolean): Ladder {
  return at(now ? 'kill' : 'cancel', limits, nowMs);
}

/** The step that is due; null when none is yet. */
export function climb(ladder: Ladder, limits: LadderLimits, nowMs: number): Ladder | null {
  if (ladder.nextAtMs === null || nowMs < ladder.nextAtMs) return null;
  return at(NEXT[ladder.rung], limits, nowMs);
}

/** Asked to hurry: SIGKILL at once, unless that was done already. */
export function hurry(ladder: Ladder, limits: LadderLimits, nowMs: number): Ladder | null {
  return ladder.rung === 'kill' || ladder.rung === 'give_up' ? null : at('kill', limits, nowMs);
}
