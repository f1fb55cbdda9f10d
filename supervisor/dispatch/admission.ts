// Turns that must wait for a budget before they start. Each keeps its place in the queue and is looked at again when its
// time has come, or when others turn out to need less. Nothing here outlives the process: the queue itself is durable.
import type { Clock } from '../../shared/clock.js';
import type { Governor, Stop } from '../budgets/governor.js';
import { type Estimate, spenderOf } from '../budgets/governor.js';
import type { Store } from '../store/types.js';
import type { LiveListener } from '../tools/running-turn.js';
import type { Waiting } from './gate.js';

export interface AdmissionPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly governor: Governor;
  readonly live: LiveListener;
  /** What the first model call of the turn may take. */
  estimate(turn: Waiting): Estimate;
  log(event: 'budget.wait' | 'budget.stop' | 'budget.degraded', fields: Record<string, unknown>): void;
}

export type Verdict =
  /** `reserve` holds back what was admitted: call it inside the transaction that dispatches the turn. */
  { readonly kind: 'go'; reserve(): void } | { readonly kind: 'held' } | Stop;

interface HeldTurn {
  readonly estimate: Estimate;
  readonly sinceMs: number;
  readonly untilMs: number | null;
  /** Monotonic; before it nothing can have changed. Null: ask whenever something changed. */
  readonly notBeforeMs: number | null;
  /** Monotonic; null when no time brings room. */
  readonly dueMs: number | null;
}

const NOTHING_HELD: Verdict = { kind: 'go', reserve: () => undefined };
const HELD: Verdict = { kind: 'held' };

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
  ask(turn: Waiting): Verdict {
    const { store, clock, governor } = this.#ports;
    if (!governor.active) return NOTHING_HELD;
    const before = this.#held.get(turn.turnId);
    if (before?.notBeforeMs != null && clock.monotonic() < before.notBeforeMs) return HELD;
    const now = clock.now();
    const estimate = before?.estimate ?? this.#ports.estimate(turn);
    const sinceMs = before?.sinceMs ?? now;
    const spender = spenderOf(store, turn.turnId, turn.threadId);
    const admission = governor.admit(spender, estimate, sinceMs, now);
    if (admission.kind === 'wait') {
      this.#hold(turn, { estimate, sinceMs, untilMs: admission.untilMs }, admission.sooner);
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

  /** Wakes at the earliest time at which a held turn may go; `queued` are those that still wait. */
  arm(queued: readonly Waiting[]): void {
    this.#cancelTimer();
    this.#cancelTimer = () => undefined;
    if (this.#held.size === 0) return;
    const { clock } = this.#ports;
    const waiting = new Set(queued.map(({ turnId }) => turnId));
    const nowMs = clock.monotonic();
    let dueMs = Number.POSITIVE_INFINITY;
    for (const [turnId, held] of this.#held) {
      if (!waiting.has(turnId)) this.#held.delete(turnId);
      // One that is due already waits for a place as well, and whoever leaves one wakes it.
      else if (held.dueMs !== null && held.dueMs > nowMs) dueMs = Math.min(dueMs, held.dueMs);
    }
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#cancelTimer = clock.after(dueMs - nowMs, this.#wake);
  }

  close(): void {
    this.#cancelTimer();
    this.#held.clear();
  }

  #hold(turn: Waiting, held: Pick<HeldTurn, 'estimate' | 'sinceMs' | 'untilMs'>, sooner: boolean): void {
    const { clock, live, log } = this.#ports;
    const dueMs = held.untilMs === null ? null : clock.monotonic() + Math.max(1, held.untilMs - clock.now());
    const before = this.#held.get(turn.turnId);
    this.#held.set(turn.turnId, { ...held, dueMs, notBeforeMs: sooner ? null : dueMs });
    if (before !== undefined && before.untilMs === held.untilMs) return;
    live(turn.turnId, { type: 'budget_wait', until_ms: held.untilMs });
    log('budget.wait', { turn_id: turn.turnId, until_ms: held.untilMs });
  }
}
