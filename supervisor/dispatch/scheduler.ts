// Starts what may start, whenever something changed: a message was accepted, a turn ended, an end was asked for.
// Owns the turns in flight; the gate decides, the runner runs.
import type { EndReason } from '../../shared/outcome.js';
import type { Estimate, Stop } from '../budgets/governor.js';
import type { TurnRow } from '../store/types.js';
import { Admission } from './admission.js';
import { admit, type Waiting } from './gate.js';
import { type Ending, settle } from './settle.js';
import { type Flight, flyTurn, type RunnerParts } from './turn-runner.js';

export interface Scheduler {
  /** A message was accepted; its turn may start at once. */
  wake(): void;
  /** Asks a turn to end. Durable before it returns; false when the turn has ended already or is unknown. */
  requestEnd(turnId: string, reason: EndReason, now?: boolean): boolean;
  /** Resolves when the turn is settled. */
  whenSettled(turnId: string): Promise<TurnRow>;
  /** Starts nothing more; resolves when no worker is left. */
  close(): Promise<void>;
}

export interface SchedulerParts extends Omit<RunnerParts, 'budgetFreed'> {
  /** What the first model call of a turn may take; asked for only where a budget is set. */
  estimate(turn: Waiting): Estimate;
}

export function makeScheduler(parts: SchedulerParts, maxParallelTurns: number): Scheduler {
  return new TurnScheduler(parts, maxParallelTurns);
}

class TurnScheduler implements Scheduler {
  readonly #parts: RunnerParts;
  readonly #maxParallelTurns: number;
  readonly #flights = new Map<string, Flight>();
  readonly #admission: Admission;
  readonly #waiters = new Map<string, ((row: TurnRow) => void)[]>();
  #closed = false;

  constructor(parts: SchedulerParts, maxParallelTurns: number) {
    this.#parts = { ...parts, budgetFreed: () => this.wake() };
    this.#admission = new Admission(parts, () => this.wake());
    this.#maxParallelTurns = maxParallelTurns;
  }

  wake(): void {
    while (this.#startWhatMay() > 0) {
      // A turn that its budget ended leaves its thread to the next one.
    }
  }

  /** The number of turns that ended without having run. */
  #startWhatMay(): number {
    const flights = this.#flights;
    const queued = this.#parts.store.inbox
      .pending()
      .filter((row) => !flights.has(row.turn_id))
      .map((row) => ({ turnId: row.turn_id, threadId: row.thread_id }));
    const running = [...flights.values()].map((flight) => flight.turn);
    const view = { queued, running, maxParallelTurns: this.#maxParallelTurns, closed: this.#closed };
    let ended = 0;
    admit(view, (turn) => {
      const verdict = this.#admission.ask(turn);
      if (verdict.kind === 'go') this.#launch(turn, verdict.reserve);
      if (verdict.kind === 'stop') {
        this.#endQueued(turn.turnId, endingOfStop(verdict));
        ended += 1;
      }
      return verdict.kind === 'go';
    });
    if (!this.#closed) this.#admission.arm(queued);
    return ended;
  }

  requestEnd(turnId: string, reason: EndReason, now = false): boolean {
    const { store } = this.#parts;
    const row = store.turns.get(turnId);
    if (row === undefined || row.state === 'ended') return false;
    const flight = this.#flights.get(turnId);
    try {
      if (row.end_requested === null) this.#writeDown(row, reason);
    } catch (error) {
      // What runs ends also where that cannot be written down.
      if (flight === undefined) throw error;
    }
    if (flight !== undefined) flight.end(reason, now);
    else {
      this.#endQueued(turnId, CANCELLED_BEFORE_START);
      this.wake();
    }
    return true;
  }

  #writeDown({ turn_id: turnId, state }: TurnRow, reason: EndReason): void {
    const { store } = this.#parts;
    store.transact('request_end', () => {
      if (state === 'queued') store.turns.update(turnId, { end_requested: reason });
      else store.turns.transition(turnId, 'stop', { end_requested: reason });
    });
  }

  whenSettled(turnId: string): Promise<TurnRow> {
    const row = this.#parts.store.turns.get(turnId);
    if (row?.state === 'ended') return Promise.resolve(row);
    return new Promise((resolve) => {
      this.#waiters.set(turnId, [...(this.#waiters.get(turnId) ?? []), resolve]);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#admission.close();
    const flights = [...this.#flights.values()];
    for (const flight of flights) flight.end('drain', false);
    await Promise.all(flights.map((flight) => flight.gone));
  }

  #launch(turn: Waiting, reserve: () => void): void {
    const flight = flyTurn(this.#parts, turn, reserve);
    this.#flights.set(turn.turnId, flight);
    void flight.settled.then((row) => this.#announce(row));
    void flight.gone.then(() => {
      // One whose end could not be recorded keeps its place, or it would start again: the next supervisor settles it.
      if (this.#parts.store.turns.get(turn.turnId)?.state !== 'ended') return;
      this.#flights.delete(turn.turnId);
      this.wake();
    });
  }

  /** A turn that no worker has yet ends without one. */
  #endQueued(turnId: string, ending: Ending): void {
    const { store, governor, clock, live } = this.#parts;
    settle(store, governor, turnId, ending, clock.now(), (event) => live(turnId, { type: 'journal', event }));
    const row = store.turns.get(turnId);
    if (row !== undefined) this.#announce(row);
  }

  #announce(row: TurnRow): void {
    for (const resolve of this.#waiters.get(row.turn_id) ?? []) resolve(row);
    this.#waiters.delete(row.turn_id);
  }
}

const WITHOUT_WORK = { reply: '', rounds: 0, toolCalls: 0, lostCall: null } as const;

const CANCELLED_BEFORE_START: Ending = {
  ...WITHOUT_WORK,
  status: 'cancelled',
  error: { code: 'cancelled', message: 'the turn was cancelled before it started' },
};

function endingOfStop({ code, failed, reason: message }: Stop): Ending {
  return { ...WITHOUT_WORK, status: failed ? 'failed' : code, error: { code, message }, notRun: true };
}
