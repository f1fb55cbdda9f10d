// Starts what may start, whenever something changed: a message was accepted, a turn ended, an end was asked for.
// Owns the turns in flight and, in memory, those that wait; the gate decides, the runner runs.
import type { EndReason } from '../../shared/outcome.js';
import type { Estimate } from '../budgets/governor.js';
import type { Lane, TurnRow } from '../store/rows.js';
import { Admission } from './admission.js';
import { type GateView, heldAll, judge, type Waiting } from './gate.js';
import { cancelledInQueue, endingOfStop } from './queued-endings.js';
import type { RunnerParts } from './runner-parts.js';
import { type Ending, settle } from './settle.js';
import { Slots } from './slots.js';
import { TurnQueue } from './turn-queue.js';
import { flyTurn } from './turn-runner.js';

/** A turn whose message was accepted. */
export interface QueuedTurn extends Waiting {
  readonly principal: string;
  readonly lane: Lane;
}

export interface SchedulerStatus {
  readonly paused: boolean;
  readonly draining: boolean;
  /** Disk or memory run so short that no turn starts. */
  readonly shedding: boolean;
  readonly running: number;
  /** Parked turns included. */
  readonly waiting: number;
  readonly parked: number;
}

export interface Scheduler {
  /** A message was accepted; its turn may start at once. */
  enqueue(turn: QueuedTurn): void;
  /** Takes up what an earlier supervisor left in the queue. Once, before anything is accepted. */
  load(): void;
  /** Something changed; with a turn: what that one waited for is answered. */
  wake(turnId?: string): void;
  /** Asks a turn to end. Durable before it returns; false when the turn has ended already or is unknown. */
  requestEnd(turnId: string, reason: EndReason, now?: boolean): boolean;
  /** Resolves when the turn is settled. */
  whenSettled(turnId: string): Promise<TurnRow>;
  /** How many wait, of one sender and in all. */
  waiting(principal: string): { readonly ofPrincipal: number; readonly total: number };
  /** Holds whatever has not started, or lets it go. */
  hold(paused: boolean): void;
  status(): SchedulerStatus;
  /**
   * Starts nothing more. What runs may finish within `timeoutMs`; what is left then stays in the queue for the next
   * supervisor. Resolves when no worker is left. Called again, it only shortens the time.
   */
  drain(timeoutMs: number): Promise<void>;
  /** Starts nothing more and ends what runs; resolves when no worker is left. */
  close(): Promise<void>;
}

export interface SchedulerParts extends Omit<RunnerParts, 'budgetFreed'> {
  /** What the first model call of a turn may take; asked for only where a budget is set. */
  estimate(turn: Waiting): Estimate;
  readonly maxParallelTurns: number;
  readonly laneAgeMs: number;
  /** A turn has ended, and this is durable. Before anybody else who waits for that is told. */
  ended?(row: TurnRow): void;
  /** Left out: nothing ever runs short. */
  readonly pressure?: {
    shedding(relieved: () => void): boolean;
    close(): void;
  };
  /** Held by the operator from the start. */
  readonly paused?: boolean;
}

export function makeScheduler(parts: SchedulerParts): Scheduler {
  return new TurnScheduler(parts);
}

class TurnScheduler implements Scheduler {
  readonly #parts: SchedulerParts;
  readonly #runner: RunnerParts;
  readonly #slots: Slots;
  readonly #queue: TurnQueue;
  readonly #admission: Admission;
  readonly #waiters = new Map<string, ((row: TurnRow) => void)[]>();
  #draining = false;
  #paused: boolean;
  #cancelDrain: () => void = () => undefined;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.#slots = new Slots((turnId) => parts.waits.lends(turnId));
    this.#runner = { ...parts, budgetFreed: () => this.wake() };
    this.#admission = new Admission(parts, () => this.wake());
    this.#queue = new TurnQueue(parts.laneAgeMs);
    this.#paused = parts.paused ?? false;
  }

  enqueue(turn: QueuedTurn): void {
    this.#queue.add({ ...turn, sinceMs: this.#parts.clock.monotonic() });
    this.wake();
  }

  load(): void {
    const { store, clock } = this.#parts;
    this.#parts.waits.rearm();
    const parked = new Set(store.waits.allOpen().map((wait) => wait.turn_id));
    const now = clock.now();
    for (const row of store.inbox.pending()) {
      const { turn_id: turnId, thread_id: threadId, principal, lane } = row;
      const sinceMs = clock.monotonic() - Math.max(0, now - row.created_at_ms);
      const asked = row.producer === 'subagent' ? store.turns.get(turnId)?.parent_turn_id : null;
      const parent = asked === null || asked === undefined ? {} : { parentTurnId: asked };
      this.#queue.add({ turnId, threadId, principal, lane, sinceMs, ...parent }, parked.has(turnId));
    }
    this.wake();
  }

  wake(turnId?: string): void {
    if (turnId !== undefined) this.#queue.unpark(turnId);
    while (this.#startWhatMay() > 0) {
      // A turn that its budget ended leaves its thread to the next one.
    }
  }

  waiting(principal: string): { ofPrincipal: number; total: number } {
    return { ofPrincipal: this.#queue.waitingOf(principal), total: this.#queue.size };
  }

  hold(paused: boolean): void {
    this.#paused = paused;
    if (!paused) this.wake();
  }

  status(): SchedulerStatus {
    const { draining, paused, shedding } = this.#view();
    const running = this.#slots.size;
    return { draining, paused, shedding, running, waiting: this.#queue.size, parked: this.#queue.parked };
  }

  requestEnd(turnId: string, reason: EndReason, now = false): boolean {
    const { store } = this.#parts;
    const row = store.turns.get(turnId);
    if (row === undefined || row.state === 'ended') return false;
    const flight = this.#slots.get(turnId);
    try {
      if (row.end_requested === null) this.#writeDown(row, reason);
    } catch (error) {
      // What runs ends also where that cannot be written down.
      if (flight === undefined) throw error;
    }
    if (flight !== undefined) flight.end(reason, now);
    else {
      this.#endQueued(turnId, cancelledInQueue(row));
      this.wake();
    }
    return true;
  }

  whenSettled(turnId: string): Promise<TurnRow> {
    const row = this.#parts.store.turns.get(turnId);
    if (row?.state === 'ended') return Promise.resolve(row);
    return new Promise((resolve) => {
      this.#waiters.set(turnId, [...(this.#waiters.get(turnId) ?? []), resolve]);
    });
  }

  async drain(timeoutMs: number): Promise<void> {
    this.#shut();
    this.#cancelDrain();
    const suspend = (): void => {
      for (const flight of this.#slots.flights) flight.suspend('drain');
    };
    if (timeoutMs > 0) this.#cancelDrain = this.#parts.clock.after(timeoutMs, suspend);
    else suspend();
    await this.#allGone();
    this.#cancelDrain();
  }

  async close(): Promise<void> {
    this.#shut();
    for (const flight of this.#slots.flights) flight.end('drain', false);
    await this.#allGone();
  }

  #shut(): void {
    this.#draining = true;
    this.#admission.close();
    this.#parts.pressure?.close();
  }

  async #allGone(): Promise<void> {
    await Promise.all(this.#slots.flights.map((flight) => flight.gone));
    this.#parts.waits.close();
  }

  /** The number of turns that ended without having run. */
  #startWhatMay(): number {
    const queue = this.#queue;
    const nowMs = this.#parts.clock.monotonic();
    const walk = queue.walk();
    let ended = 0;
    while (this.#slots.taken < this.#parts.maxParallelTurns) {
      const turn = queue.next(walk, nowMs);
      if (turn === undefined) break;
      const gate = this.#view();
      if (heldAll(gate) !== null) break;
      ended += this.#consider(turn, gate);
    }
    ended += this.#startInLentSlots();
    if (!this.#draining) this.#admission.arm((turnId) => queue.has(turnId) && !this.#slots.has(turnId));
    return ended;
  }

  /** However full the house is. */
  #startInLentSlots(): number {
    let ended = 0;
    for (const parentId of this.#slots.onOffer) {
      for (const turn of this.#queue.startableBelow(parentId)) {
        const gate = { ...this.#view(), running: this.#parts.maxParallelTurns - 1 };
        if (heldAll(gate) !== null) break;
        ended += this.#consider(turn, gate);
        if (this.#slots.has(turn.turnId)) break;
      }
    }
    return ended;
  }

  /** The number of turns that ended by it. */
  #consider(turn: Waiting, gate: GateView): 0 | 1 {
    const verdict = judge(gate, this.#queue.viewOf(turn.turnId), () => this.#admission.ask(turn));
    if (verdict.kind === 'start') this.#launch(turn, verdict.reserve);
    if (verdict.kind !== 'refuse') return 0;
    this.#endQueued(turn.turnId, endingOfStop(verdict.stop));
    return 1;
  }

  #view(): GateView {
    const { pressure, maxParallelTurns } = this.#parts;
    return {
      draining: this.#draining,
      paused: this.#paused,
      shedding: !this.#draining && (pressure?.shedding(() => this.wake()) ?? false),
      running: this.#slots.taken,
      maxParallelTurns,
    };
  }

  #writeDown({ turn_id: turnId, state }: TurnRow, reason: EndReason): void {
    const { store } = this.#parts;
    store.transact('request_end', () => {
      if (state === 'queued') store.turns.update(turnId, { end_requested: reason });
      else store.turns.transition(turnId, 'stop', { end_requested: reason });
    });
  }

  #launch(turn: Waiting, reserve: () => void): void {
    this.#queue.start(turn.turnId);
    const flight = flyTurn(this.#runner, turn, reserve);
    this.#slots.add(turn, flight);
    void flight.settled.then((row) => this.#announce(row));
    void flight.gone.then((left) => left !== 'unrecorded' && this.#landed(turn));
  }

  /** One whose end could not be recorded keeps its place, or it would start again: the next supervisor settles it. */
  #landed(turn: Waiting): void {
    const { turnId } = turn;
    const { store } = this.#parts;
    const state = store.turns.get(turnId)?.state;
    this.#slots.remove(turn);
    if (state === 'ended') this.#queue.remove(turnId);
    else this.#queue.putBack(turnId, store.waits.openOf(turnId).length > 0);
    this.wake();
  }

  /** A turn that no worker has now ends without one. */
  #endQueued(turnId: string, ending: Ending): void {
    const { store, governor, clock, live } = this.#parts;
    settle(store, governor, turnId, ending, clock.now(), (event) => live(turnId, { type: 'journal', event }));
    this.#parts.waits.withdraw(turnId);
    this.#queue.remove(turnId);
    const row = store.turns.get(turnId);
    if (row !== undefined) this.#announce(row);
  }

  #announce(row: TurnRow): void {
    this.#parts.ended?.(row);
    for (const resolve of this.#waiters.get(row.turn_id) ?? []) resolve(row);
    this.#waiters.delete(row.turn_id);
  }
}
