// Starts what may start, whenever something changed: a message was accepted, a turn ended, an end was asked for.
// Owns the turns in flight; the gate decides, the runner runs.
import type { EndReason } from '../../shared/outcome.js';
import type { TurnRow } from '../store/types.js';
import type { RefusedCall } from '../tools/running-turn.js';
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
  /** Calls of a turn that were refused because nobody could answer, or because somebody said no. */
  refusedCalls(turnId: string): readonly RefusedCall[];
  /** Starts nothing more; resolves when no worker is left. */
  close(): Promise<void>;
}

export function makeScheduler(parts: RunnerParts, maxParallelTurns: number): Scheduler {
  const { store, clock } = parts;
  const flights = new Map<string, Flight>();
  const refused = new Map<string, readonly RefusedCall[]>();
  const waiters = new Map<string, ((row: TurnRow) => void)[]>();
  let closed = false;

  const announce = (row: TurnRow): void => {
    for (const resolve of waiters.get(row.turn_id) ?? []) resolve(row);
    waiters.delete(row.turn_id);
  };

  const launch = (waiting: Waiting): void => {
    const flight = flyTurn(parts, waiting);
    flights.set(waiting.turnId, flight);
    refused.set(waiting.turnId, flight.refusedCalls);
    void flight.settled.then(announce);
    void flight.gone.then(() => {
      flights.delete(waiting.turnId);
      wake();
    });
  };

  const wake = (): void => {
    const queued = store.inbox
      .pending()
      .filter((row) => !flights.has(row.turn_id))
      .map((row) => ({ turnId: row.turn_id, threadId: row.thread_id }));
    const running = [...flights.values()].map((flight) => flight.turn);
    for (const turn of admit({ queued, running, maxParallelTurns, closed })) launch(turn);
  };

  const requestEnd = (turnId: string, reason: EndReason, now = false): boolean => {
    const row = store.turns.get(turnId);
    if (row === undefined || row.state === 'ended') return false;
    if (row.end_requested === null)
      store.transact('request_end', () => {
        if (row.state === 'queued') store.turns.update(turnId, { end_requested: reason });
        else store.turns.transition(turnId, 'stop', { end_requested: reason });
      });
    const flight = flights.get(turnId);
    if (flight !== undefined) flight.end(reason, now);
    else announceQueuedEnd(turnId);
    return true;
  };

  const announceQueuedEnd = (turnId: string): void => {
    const error = { code: 'cancelled', message: 'the turn was cancelled before it started' };
    const ending = {
      status: 'cancelled',
      reply: '',
      error,
      rounds: 0,
      toolCalls: 0,
      lostCall: null,
    } as const;
    settle(store, turnId, ending, clock.now(), (event) => parts.live(turnId, { type: 'journal', event }));
    const row = store.turns.get(turnId);
    if (row !== undefined) announce(row);
  };

  return {
    wake,
    requestEnd,
    refusedCalls: (turnId) => refused.get(turnId) ?? [],
    whenSettled: (turnId) => {
      const row = store.turns.get(turnId);
      if (row?.state === 'ended') return Promise.resolve(row);
      return new Promise((resolve) => waiters.set(turnId, [...(waiters.get(turnId) ?? []), resolve]));
    },
    close: async () => {
      closed = true;
      for (const flight of flights.values()) flight.end('drain', false);
      await Promise.all([...flights.values()].map((flight) => flight.gone));
    },
  };
}
