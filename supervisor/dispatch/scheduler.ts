// Starts what may start, whenever something changed: a message was accepted, a turn ended, an end was asked for.
// Owns the turns in flight; the gate decides, the runner runs.
import type { EndReason } from '../../shared/outcome.js';
import type { TurnRow } from '../store/types.js';
import { admit, type Waiting } from './gate.js';
import { settle } from './settle.js';
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

export function makeScheduler(parts: RunnerParts, maxParallelTurns: number): Scheduler {
  return new TurnScheduler(parts, maxParallelTurns);
}

class TurnScheduler implements Scheduler {
  readonly #parts: RunnerParts;
  readonly #maxParallelTurns: number;
  readonly #flights = new Map<string, Flight>();
  readonly #waiters = new Map<string, ((row: TurnRow) => void)[]>();
  #closed = false;

  constructor(parts: RunnerParts, maxParallelTurns: number) {
    this.#parts = parts;
    this.#maxParallelTurns = maxParallelTurns;
  }

  wake(): void {
    const flights = this.#flights;
    const queued = this.#parts.store.inbox
      .pending()
      .filter((row) => !flights.has(row.turn_id))
      .map((row) => ({ turnId: row.turn_id, threadId: row.thread_id }));
    const running = [...flights.values()].map((flight) => flight.turn);
    const view = { queued, running, maxParallelTurns: this.#maxParallelTurns, closed: this.#closed };
    for (const turn of admit(view)) this.#launch(turn);
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
    if (flight === undefined) this.#endQueued(turnId);
    else flight.end(reason, now);
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
    const flights = [...this.#flights.values()];
    for (const flight of flights) flight.end('drain', false);
    await Promise.all(flights.map((flight) => flight.gone));
  }

  #launch(turn: Waiting): void {
    const flight = flyTurn(this.#parts, turn);
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
  #endQueued(turnId: string): void {
    const { store, clock, live } = this.#parts;
    const error = { code: 'cancelled', message: 'the turn was cancelled before it started' };
    const ending = {
      status: 'cancelled',
      reply: '',
      error,
      rounds: 0,
      toolCalls: 0,
      lostCall: null,
    } as const;
    settle(store, turnId, ending, clock.now(), (event) => live(turnId, { type: 'journal', event }));
    const row = store.turns.get(turnId);
    if (row !== undefined) this.#announce(row);
  }

  #announce(row: TurnRow): void {
    for (const resolve of this.#waiters.get(row.turn_id) ?? []) resolve(row);
    this.#waiters.delete(row.turn_id);
  }
}
