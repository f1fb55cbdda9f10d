// May a queued turn start now, and which comes first? Pure: it sees how the instance stands and who waits, and says
// start, hold and why, or refuse. No clock, no store.
import type { Lane } from '../store/rows.js';

export interface Waiting {
  readonly turnId: string;
  readonly threadId: string;
  /** The turn that asked for it, of a subagent's: while that waits, this one may run in its slot. */
  readonly parentTurnId?: string;
}

/** Why a turn waits, in the order in which it is found out. */
export type Hold =
  | 'draining'
  | 'paused'
  | 'pressure'
  | 'parked'
  | 'thread_busy'
  | 'slots_taken'
  /** Or for whatever the budget says that it waits for. */
  | 'budget';

/** How the instance stands. */
export interface GateView {
  /** The supervisor ends: nothing new starts. */
  readonly draining: boolean;
  /** Held by the operator. */
  readonly paused: boolean;
  /** Disk or memory run short. */
  readonly shedding: boolean;
  /** Turns that have a slot. */
  readonly running: number;
  readonly maxParallelTurns: number;
}

/** How one turn stands. */
export interface TurnView {
  /** It waits for an answer, and has no worker meanwhile. */
  readonly parked: boolean;
  /** Its thread is at work on another turn, or one that came before waits too. */
  readonly behind: boolean;
}

export type BudgetVerdict<Stop> =
  /** `reserve` holds back what was admitted: call it inside the transaction that dispatches the turn. */
  { readonly kind: 'go'; reserve(): void } | { readonly kind: 'held' } | Stop;

export type Verdict<Stop> =
  | { readonly kind: 'start'; reserve(): void }
  | { readonly kind: 'hold'; readonly why: Hold }
  | { readonly kind: 'refuse'; readonly stop: Stop };

/** Why nothing at all may start; null when something may. */
export function heldAll({ draining, paused, shedding, running, maxParallelTurns }: GateView): Hold | null {
  if (draining) return 'draining';
  if (paused) return 'paused';
  if (shedding) return 'pressure';
  return running >= maxParallelTurns ? 'slots_taken' : null;
}

/** The budget is asked last: what it admits is started. */
export function judge<Stop extends { readonly kind: 'stop' }>(
  gate: GateView,
  turn: TurnView,
  budget: () => BudgetVerdict<Stop>,
): Verdict<Stop> {
  // What keeps this turn alone is told before a full house: it would wait in an empty one too.
  const own: Hold | null = turn.parked ? 'parked' : turn.behind ? 'thread_busy' : null;
  const all = heldAll(gate);
  const why = all === 'slots_taken' || all === null ? (own ?? all) : all;
  if (why !== null) return { kind: 'hold', why };
  const verdict = budget();
  if (verdict.kind === 'go') return { kind: 'start', reserve: verdict.reserve };
  return verdict.kind === 'held'
    ? { kind: 'hold', why: 'budget' }
    : { kind: 'refuse', stop: verdict as Stop };
}

/** Where one that may start stands. */
export interface Standing {
  readonly lane: Lane;
  /** Order of acceptance. */
  readonly place: number;
  /** Time that only grows, when it was accepted. */
  readonly sinceMs: number;
}

/**
 * Of the first that waits for a person and the first in the background, the one that goes: a person's, unless the other
 * was accepted before it and has waited as long as work in the background may have to.
 */
export function first<T extends Standing>(
  person: T | undefined,
  background: T | undefined,
  nowMs: number,
  laneAgeMs: number,
): T | undefined {
  if (person === undefined || background === undefined) return person ?? background;
  const aged = nowMs - background.sinceMs >= laneAgeMs;
  return aged && background.place < person.place ? background : person;
}
