// Turns that must wait for a budget before they start. Each keeps its place in the queue and is looked at again when its
// time has come, or when others turn out to need less. Nothing here outlives the process: the queue itself is durable.
import type { Clock } from '../../shared/clock.js';
import type { Governor, Stop } from '../budgets/governor.js';
import { type Estimate, spenderOf } from '../budgets/governor.js';
import type { Store } from '../store/types.js';
import type { LiveListener } from '../tools/running-turn.js';
import type { BudgetVerdict, Waiting } from './gate.js';

export interface AdmissionPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly governor: Governor;
  readonly live: LiveListener;
  /** What the first model call of the turn may take. */
  estimate(turn: Waiting): Estimate;
  log(event: 'budget.wait' | 'budget.stop' | 'budget.degraded', fields: Record<string, unknown>): void;
}

interface HeldTurn {
  readonly estimate: Estimate;
  /** All wall time: when it was held for the first time, and looked at last. */
  readonly sinceMs: number;
  readonly askedAtMs: number;
  /** Null when no time brings room. */
  readonly untilMs: number | null;
  /** Others may make room before. */
  readonly sooner: boolean;
}

/** A timer knows nothing of a machine that slept or of a clock that was set, so the time is looked at this often. */
const LOOK_MS = 60_000;

const NOTHING_HELD: BudgetVerdict<Stop> = { kind: 'go', reserve: () => undefined };
const HELD: BudgetVerdict<Stop> = { kind: 'held' };

export class Admission {
  readonly #ports: AdmissionPorts;
  readonly #wake: () => void;
  readonly #held = new Map<string, HeldTurn>();
  #cancelTimer: () => void = () => undefined;

  /** `wake` looks at the queue again. */
  constructor(ports: AdmissionPorts, wake: () => void) {
    this.#ports = ports;
    this.#wake = wake;
  }

  /** May this turn start, as far as its budget goes? */
  ask(turn: Waiting): BudgetVerdict<Stop> {
    const { store, clock, governor } = this.#ports;
    if (!governor.active) return NOTHING_HELD;
    const before = this.#held.get(turn.turnId);
    const now = clock.now();
    if (before !== undefined && isTooEarly(before, now)) return HELD;
    const estimate = before?.estimate ?? this.#ports.estimate(turn);
    const sinceMs = before?.sinceMs ?? now;
    const spender = spenderOf(store, turn.turnId, turn.threadId);
    const admission = governor.admit(spender, estimate, sinceMs, now);
    if (admission.kind === 'wait') {
      const { untilMs, sooner } = admission;
      this.#hold(turn, { estimate, sinceMs, askedAtMs: now, untilMs, sooner });
      return HELD;
    }
    this.#held.delete(turn.turnId);
    if (admission.kind === 'stop') {
      this.#ports.log('budget.stop', {
        turn_id: turn.turnId,
        code: admission.code,
        reason: admission.reason,
      });
      return admission;
    }
    const { degraded } = admission;
    if (degraded !== null) this.#ports.log('budget.degraded', { turn_id: turn.turnId, model: degraded });
    return {
      kind: 'go',
      reserve: () => governor.reserve(spender, estimate, null, degraded, clock.now()),
    };
  }

  /** Is it known to wait for its budget? */
  holds(turnId: string): boolean {
    return this.#held.has(turnId);
  }

  /** Wakes at the earliest time at which a held turn may go; `waits` says which of them still wait. */
  arm(waits: (turnId: string) => boolean): void {
    this.#cancelTimer();
    this.#cancelTimer = () => undefined;
    if (this.#held.size === 0) return;
    const { clock } = this.#ports;
    const now = clock.now();
    let leftMs = Number.POSITIVE_INFINITY;
    for (const [turnId, { untilMs }] of this.#held) {
      if (!waits(turnId)) this.#held.delete(turnId);
      // One that is due already waits for a place as well, and whoever leaves one wakes it.
      else if (untilMs !== null && untilMs > now) leftMs = Math.min(leftMs, untilMs - now);
    }
    if (leftMs === Number.POSITIVE_INFINITY) return;
    this.#cancelTimer = clock.after(Math.min(leftMs, LOOK_MS), this.#wake);
  }

  close(): void {
    this.#cancelTimer();
    this.#held.clear();
  }

  #hold(turn: Waiting, held: HeldTurn): void {
    const { live, log } = this.#ports;
    const before = this.#held.get(turn.turnId);
    this.#held.set(turn.turnId, held);
    if (before !== undefined && before.untilMs === held.untilMs) return;
    live(turn.turnId, { type: 'budget_wait', until_ms: held.untilMs });
    log('budget.wait', { turn_id: turn.turnId, until_ms: held.untilMs });
  }
}

/** Nothing can have changed since it was looked at. A clock that was set back makes it worth another look. */
function isTooEarly({ askedAtMs, untilMs, sooner }: HeldTurn, nowMs: number): boolean {
  return !sooner && untilMs !== null && nowMs >= askedAtMs && nowMs < untilMs;
}
