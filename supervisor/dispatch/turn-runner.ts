// One turn's life: take a worker, freeze the snapshot, hand it over, fold what comes back, settle exactly once.
// Whatever ends the turn (its own outcome, a cancel, the deadline, the worker's death) ends in the same settle.
import type { Clock } from '../../shared/clock.js';
import type { ErrorCode, Failure } from '../../shared/errors.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { TurnCredentials, TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { Masker } from '../../shared/mask.js';
import type { EndReason } from '../../shared/outcome.js';
import { type Governor, spenderOf } from '../budgets/governor.js';
import type { WarmPool, WorkerExit, WorkerHandle } from '../processes/types.js';
import { dropSpool } from '../snapshot/spool.js';
import type { Store, TurnRow } from '../store/types.js';
import {
  type Ask,
  flushJournal,
  type LiveListener,
  type RunningTurn,
  unwrittenOf,
} from '../tools/running-turn.js';
import { endingOf } from './ending-of.js';
import { type FoldAnswer, type FoldReason, foldFrame, type Terminal } from './fold-frame.js';
import type { Waiting } from './gate.js';
import { settle } from './settle.js';
import { SnapshotName } from './snapshot-name.js';
import { TurnBudget } from './turn-budget.js';
import { exitFields, lostCallOf, messageOf, type RunnerEvent, unrecorded } from './turn-evidence.js';

/** How much later than the worker itself the supervisor calls the deadline: the worker ends more politely. */
const DEADLINE_SLACK_MS = 1_500;

export interface RunnerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly pool: WarmPool;
  readonly masker: Masker;
  readonly ask: Ask;
  readonly live: LiveListener;
  readonly governor: Governor;
  /** Something that budgets held back is free again: others may go. */
  readonly budgetFreed: () => void;
  /** Freezes the turn's input; called once, when a worker is there. */
  freeze(turn: Waiting, marker: string): { snapshot: TurnSnapshot; credentials: TurnCredentials };
  /** Folds a thread while its turn runs; left out: nothing is ever folded. Never rejects. */
  compact?(
    turn: Waiting & { readonly snapshot: TurnSnapshot },
    reason: FoldReason,
    signal: AbortSignal,
  ): Promise<FoldAnswer>;
  /** Names a snapshot by its content. */
  hashOf(snapshot: TurnSnapshot): string;
  optionRefused(model: string, option: string): void;
  log(event: RunnerEvent, fields: Record<string, unknown>): void;
}

/** A turn in flight, as the scheduler holds it. */
export interface Flight {
  readonly turn: Waiting;
  /** Resolves when the turn is settled; rejects never. */
  readonly settled: Promise<TurnRow>;
  /** Resolves when its worker is gone too, with everything it started. */
  readonly gone: Promise<void>;
  end(reason: EndReason, now: boolean): void;
}

/** `reserve` runs inside the transaction that dispatches the turn. */
export function flyTurn(parts: RunnerParts, waiting: Waiting, reserve: () => void): Flight {
  const flight = new TurnFlight(parts, waiting, reserve);
  void flight.run();
  return flight;
}

class TurnFlight implements Flight {
  readonly turn: Waiting;
  readonly settled: Promise<TurnRow>;
  readonly gone: Promise<void>;
  readonly #parts: RunnerParts;
  readonly #reserve: () => void;
  #resolveSettled: (row: TurnRow) => void = () => undefined;
  #resolveGone: () => void = () => undefined;
  #worker: WorkerHandle | null = null;
  #running: RunningTurn | null = null;
  /** As it was when the turn began. */
  #row: TurnRow | null = null;
  #endReason: EndReason | null = null;
  #fault: Failure | null = null;
  #cancelDeadline: () => void = () => undefined;
  #flushing = false;
  #name: SnapshotName | null = null;
  /** Ends what the supervisor does for the turn beside its worker. */
  readonly #beside = new AbortController();

  constructor(parts: RunnerParts, turn: Waiting, reserve: () => void) {
    this.#parts = parts;
    this.#reserve = reserve;
    this.turn = turn;
    this.settled = new Promise((resolve) => {
      this.#resolveSettled = resolve;
    });
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
  }

  async run(): Promise<void> {
    const worker = this.#parts.pool.take();
    this.#worker = worker;
    try {
      this.#begin(worker);
    } catch (error) {
      // Nothing was sent yet: the turn ends with what kept it from starting.
      this.#fault ??= {
        code: 'internal_error',
        message: `the turn could not be started: ${messageOf(error)}`,
      };
      worker.end('protocol', { now: true });
    }
    const exit = await worker.ended;
    try {
      this.#settle(null, exit);
    } catch (error) {
      this.#giveUp(error);
    }
    if (this.#running !== null) dropSpool(this.#running.snapshot.spool_dir);
    this.#parts.log('worker.exit', { turn_id: this.turn.turnId, pid: worker.pid, ...exitFields(exit) });
    this.#cancelDeadline();
    this.#resolveGone();
  }

  /** The store takes no more, as on a full disk. Who waits is told; the next start settles the turn. */
  #giveUp(error: unknown): void {
    if (this.#row === null) throw error;
    const failure = this.#fault ?? unrecorded(error);
    this.#parts.log('turn.unrecorded', { turn_id: this.turn.turnId, message: failure.message });
    this.#resolveSettled({
      ...this.#row,
      status: 'failed',
      error_code: failure.code,
      error_message: failure.message,
      rounds: this.#running?.rounds ?? 0,
      tool_calls: this.#running?.toolCalls ?? 0,
    });
  }

  #begin(worker: WorkerHandle): void {
    // The durable flag decides: what was asked to end before it started is sent nothing.
    const row = this.#parts.store.turns.get(this.turn.turnId);
    this.#row = row ?? null;
    if (row?.end_requested) {
      this.#endReason ??= row.end_requested;
      this.#settle(null, null);
    } else {
      this.#handOver(worker);
    }
  }

  /** Idempotent; `now` skips the grace of the ladder. */
  end(reason: EndReason, now: boolean): void {
    this.#endReason ??= reason;
    this.#beside.abort(this.#endReason);
    if (this.#running !== null) this.#running.ending = true;
    this.#worker?.end(this.#endReason, { now });
  }

  #handOver(worker: WorkerHandle): void {
    const { store, clock } = this.#parts;
    const { snapshot, credentials } = this.#parts.freeze(this.turn, worker.marker);
    store.transact('dispatch_turn', () => {
      this.#reserve();
      store.turns.transition(this.turn.turnId, 'dispatch', {
        worker_id: worker.workerId,
        pid: worker.pid,
        pid_start: worker.pidStart,
        model: snapshot.model.model,
        started_at_ms: clock.now(),
      });
    });
    const spender = spenderOf(store, this.turn.turnId, this.turn.threadId);
    const budget = new TurnBudget(this.#parts, spender, snapshot.model);
    this.#running = this.#runningTurn(snapshot);
    this.#cancelDeadline = clock.after(snapshot.limits.deadline_ms + DEADLINE_SLACK_MS, () =>
      this.#stop('deadline'),
    );
    this.#name = new SnapshotName(this.#parts, this.turn.turnId, snapshot);
    let seen = false;
    worker.onFrame((frame) => {
      if (this.#running === null) return;
      if (!seen) {
        seen = true;
        this.#markRunning();
      }
      this.#fold(worker, this.#running, budget, frame);
    });
    worker.send({ type: 'turn', snapshot, credentials });
  }

  /** A frame that cannot be folded (a broken worker, a store that cannot write) ends this turn, never the supervisor. */
  #fold(worker: WorkerHandle, running: RunningTurn, budget: TurnBudget, frame: ToSupervisor): void {
    const fail = (code: ErrorCode, message: string): void => {
      this.#fault ??= { code, message };
      running.ending = true;
      worker.end('protocol', { now: true });
    };
    const broken = (error: unknown): void => {
      const { code, message } = unrecorded(error);
      fail(code, message);
    };
    try {
      foldFrame(running, frame, {
        budget,
        send: (down) => void worker.send(down),
        compact: (reason) => this.#compact(running, reason),
        terminal: (terminal) => this.#settle(terminal, null),
        optionRefused: this.#parts.optionRefused,
        retry: ({ attempt, delay_ms, reason }) =>
          this.#parts.log('model.retry', { turn_id: this.turn.turnId, attempt, delay_ms, reason }),
        violation: (message) => fail('protocol_violation', message),
        broken,
      });
      this.#flushSoon(running, broken);
    } catch (error) {
      broken(error);
    }
  }

  #compact({ snapshot }: RunningTurn, reason: FoldReason): Promise<FoldAnswer> {
    const { compact } = this.#parts;
    if (compact === undefined) return Promise.resolve({ messages: null, problem: 'nothing is ever folded' });
    return compact({ ...this.turn, snapshot }, reason, this.#beside.signal);
  }

  /** What no later frame of the same bundle took along is written once the bundle is through. */
  #flushSoon(running: RunningTurn, broken: (error: unknown) => void): void {
    if (running.unwritten.length === 0 || this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      try {
        flushJournal(running);
      } catch (error) {
        broken(error);
      }
    });
  }

  /** A reason of our own to end the turn: written down first, then acted on. */
  #stop(reason: EndReason): void {
    const { store } = this.#parts;
    const row = store.turns.get(this.turn.turnId);
    if (row === undefined || row.state === 'ended') return;
    try {
      store.transact('request_end', () =>
        store.turns.transition(this.turn.turnId, 'stop', { end_requested: row.end_requested ?? reason }),
      );
    } catch (error) {
      // It ends also where that cannot be written down.
      this.#fault ??= unrecorded(error);
    }
    this.end(reason, false);
  }

  #markRunning(): void {
    const { store } = this.#parts;
    if (store.turns.get(this.turn.turnId)?.state !== 'starting') return;
    store.transact('worker_ready', () => store.turns.transition(this.turn.turnId, 'ready'));
  }

  #settle(terminal: Terminal | null, exit: WorkerExit | null): void {
    const { store, clock, live, governor } = this.#parts;
    const running = this.#running;
    const ending = endingOf({
      terminal,
      exit,
      endRequested: this.#endReason,
      fault: this.#fault ?? exit?.fault ?? null,
      rounds: running?.rounds ?? 0,
      toolCalls: running?.toolCalls ?? 0,
      lostCall: running?.modelCallOpen ? lostCallOf(running, governor) : null,
      mask: (text) => this.#parts.masker.text(text),
    });
    if (running !== null) running.ending = true;
    this.#beside.abort('cancel');
    const tell = (event: JournalEvent): void => live(this.turn.turnId, { type: 'journal', event });
    const before = running === null ? undefined : unwrittenOf(running);
    const first = settle(store, governor, this.turn.turnId, ending, clock.now(), tell, before);
    if (!first) return;
    const row = store.turns.get(this.turn.turnId);
    if (row === undefined) throw new TypeError('a settled turn has a row');
    this.#parts.log('turn.settled', { turn_id: row.turn_id, status: row.status, error_code: row.error_code });
    this.#cancelDeadline();
    this.#resolveSettled(row);
    this.#name?.turnEnded();
    // The outcome is safe; a worker that lingers after its last frame is not waited for longer than the ladder.
    this.#worker?.end('operator');
  }

  #runningTurn(snapshot: TurnSnapshot): RunningTurn {
    return {
      turnId: this.turn.turnId,
      threadId: this.turn.threadId,
      store: this.#parts.store,
      clock: this.#parts.clock,
      masker: this.#parts.masker,
      ask: this.#parts.ask,
      live: this.#parts.live,
      snapshot,
      granted: new Map(),
      unwritten: [],
      rounds: 0,
      toolCalls: 0,
      modelCalls: 0,
      modelCallOpen: false,
      ending: this.#endReason !== null,
    };
  }
}
