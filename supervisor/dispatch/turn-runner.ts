// One window of a turn: take a worker, freeze the snapshot, hand it over, fold what comes back. It ends in one of two ways:
// the turn settles, exactly once, whatever ended it (its own outcome, a cancel, the deadline), or it is put back.
import type { Failure } from '../../shared/errors.js';
import type { EndReason } from '../../shared/outcome.js';
import { spenderOf } from '../budgets/governor.js';
import type { WorkerExit, WorkerHandle } from '../processes/types.js';
import { dropSpool } from '../snapshot/spool.js';
import type { TurnRow } from '../store/rows.js';
import type { RunningTurn } from '../tools/running-turn.js';
import { endingOf } from './ending-of.js';
import type { Terminal } from './fold-frame.js';
import { FrameDesk } from './frame-desk.js';
import type { Waiting } from './gate.js';
import { ParkWatch } from './park-watch.js';
import { type BeforeTurn, NO_EXTRAS, type TurnExtras } from './phases.js';
import type { Flight, Left, RunnerParts } from './runner-parts.js';
import type { Ending } from './settle.js';
import { SnapshotName } from './snapshot-name.js';
import { TurnBudget } from './turn-budget.js';
import { exitFields, lostCallOf, unrecorded, unrecordedEnd, unstarted } from './turn-evidence.js';
import { untilStopped } from './until-stopped.js';
import { openWindow, runningTurn } from './window.js';
import { putBack, settleAnswered, settleTurn, stopInStore } from './window-end.js';

/** How much later than the worker itself the supervisor calls the deadline: the worker ends more politely. */
const DEADLINE_SLACK_MS = 1_500;

/** `reserve` runs inside the transaction that dispatches the turn. */
export function flyTurn(parts: RunnerParts, waiting: Waiting, reserve: () => void): Flight {
  const flight = new TurnFlight(parts, waiting, reserve);
  void flight.run();
  return flight;
}

class TurnFlight implements Flight {
  readonly turn: Waiting;
  readonly settled: Promise<TurnRow>;
  readonly gone: Flight['gone'];
  readonly #parts: RunnerParts;
  #reserve: () => void;
  #resolveSettled: (row: TurnRow) => void = () => undefined;
  #resolveGone: (left: Left) => void = () => undefined;
  #worker: WorkerHandle | null = null;
  #running: RunningTurn | null = null;
  #watch: ParkWatch | null = null;
  /** As it was when the window began, then as it ended. */
  #row: TurnRow | null = null;
  #left: Left | null = null;
  #openedMs: number | null = null;
  #endReason: EndReason | null = null;
  #fault: Failure | null = null;
  #cancelDeadline: () => void = () => undefined;
  #name: SnapshotName | null = null;
  /** Ends what the supervisor does for the turn beside its worker. */
  readonly #beside = new AbortController();
  /** Ends what is done for the thread when the turn is over. */
  readonly #after = new AbortController();

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
    try {
      const extras = this.#prepare();
      // What needs no preparation gets its worker at once.
      if (extras instanceof Promise) await extras.then((ready) => ready && this.#work(ready));
      else if (extras !== null) await this.#work(extras);
    } catch (error) {
      this.#giveUp(error);
    }
    this.#cancelDeadline();
    if (this.#left === 'ended' && this.#row !== null)
      await this.#parts.after?.(this.turn, this.#row, this.#after.signal);
    this.#resolveGone(this.#left ?? 'unrecorded');
  }

  /** Idempotent; `now` skips the grace of the ladder. */
  end(reason: EndReason, now: boolean): void {
    this.#endReason ??= reason;
    this.#beside.abort(this.#endReason);
    this.#after.abort(this.#endReason);
    if (this.#running !== null) this.#running.ending = true;
    this.#worker?.end(this.#endReason, { now });
    // One that is on its way back to the queue has no worker to say how it ended.
    if (this.#left !== 'requeued') return;
    try {
      this.#settle(null, null);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  suspend(reason: 'park' | 'drain'): void {
    if (this.#left === 'ended') this.#after.abort(reason);
    if (this.#left !== null) return;
    if (this.#endReason !== null) {
      this.end(this.#endReason, true);
      return;
    }
    try {
      this.#requeue(reason);
    } catch (error) {
      this.#fault ??= unrecorded(error);
      if (this.#running !== null) this.#running.ending = true;
      this.#worker?.end('protocol', { now: true });
    }
  }

  /** Null when the turn is over before it began. */
  #prepare(): TurnExtras | null | Promise<TurnExtras | null> {
    const { store, before } = this.#parts;
    // The durable flag decides: what was asked to end before it started is sent nothing.
    const row = store.turns.get(this.turn.turnId);
    this.#row = row ?? null;
    if (row?.end_requested) {
      this.#endReason ??= row.end_requested;
      this.#settle(null, null);
      return null;
    }
    if (before === undefined || (row?.windows ?? 0) > 0) return NO_EXTRAS;
    const preparing = before(this.turn, this.#beside.signal);
    return preparing === null ? NO_EXTRAS : this.#prepared(preparing);
  }

  async #prepared(preparing: Promise<BeforeTurn>): Promise<TurnExtras | null> {
    const { store, governor } = this.#parts;
    const { turnId, threadId } = this.turn;
    // What was admitted is held from now on: others may be admitted meanwhile.
    if (governor.active) store.transact('reserve_call', this.#reserve);
    this.#reserve = () => undefined;
    const ready = await untilStopped(preparing, this.#beside.signal);
    if (ready?.kind === 'go') return ready.extras;
    // A cancel that came with the answer outranks it.
    if (ready === null || this.#beside.signal.aborted) this.#settleUnstarted();
    else this.#ended(settleAnswered(this.#parts, turnId, threadId, ready.reply));
    // Its thread is held as long as anything works on it.
    await preparing;
    return null;
  }

  #settleUnstarted(): void {
    if (this.#left === null) this.#settle(null, null);
  }

  /** The worker's part, from its start to its end. */
  async #work(extras: TurnExtras): Promise<void> {
    // It may have been asked to end since it was ready.
    if (this.#beside.signal.aborted) {
      this.#settleUnstarted();
      return;
    }
    const worker = this.#parts.pool.take();
    this.#worker = worker;
    try {
      this.#handOver(worker, extras);
    } catch (error) {
      // Nothing was sent yet: the turn ends with what kept it from starting.
      this.#fault ??= unstarted(error);
      worker.end('protocol', { now: true });
    }
    const exit = await worker.ended;
    try {
      if (this.#left === null) this.#settle(null, exit);
    } finally {
      if (this.#running !== null) dropSpool(this.#running.snapshot.spool_dir);
      this.#parts.log('worker.exit', { turn_id: this.turn.turnId, pid: worker.pid, ...exitFields(exit) });
    }
  }

  #handOver(worker: WorkerHandle, extras: TurnExtras): void {
    const { store, clock, live } = this.#parts;
    const { turnId, threadId } = this.turn;
    const row = store.turns.get(turnId);
    if (row === undefined) throw new TypeError(`there is no turn ${turnId}`);
    const { snapshot, credentials } = this.#parts.freeze(this.turn, worker.marker, extras);
    const events = store.transact('dispatch_turn', () => {
      this.#reserve();
      return openWindow(store, row, worker, snapshot, clock.now());
    });
    this.#openedMs = clock.monotonic();
    for (const event of events) live(turnId, { type: 'journal', event });
    const budget = new TurnBudget(this.#parts, spenderOf(store, turnId, threadId), snapshot);
    const watch = new ParkWatch({
      clock,
      parkAfterMs: this.#parts.parkAfterMs,
      commandMaxMs: snapshot.limits.exec_timeout_max_ms,
      openWaits: () => this.#parts.waits.openOf(turnId),
      park: () => this.suspend('park'),
    });
    this.#watch = watch;
    const running = runningTurn(this.#parts, this.turn, snapshot, {
      ending: this.#endReason !== null,
      waited: () => watch.look(),
      broken: (error) => desk.broken(error),
    });
    this.#running = running;
    const desk = new FrameDesk({
      ...{ parts: this.#parts, worker, running, budget, watch, beside: this.#beside.signal },
      terminal: (terminal) => this.#settle(terminal, null),
      fault: (failure) => {
        this.#fault ??= failure;
      },
    });
    this.#cancelDeadline = clock.after(snapshot.limits.deadline_ms + DEADLINE_SLACK_MS, () =>
      this.#stop('deadline'),
    );
    this.#name = new SnapshotName(this.#parts, turnId, snapshot);
    worker.onFrame((frame) => desk.take(frame));
    worker.send({ type: 'turn', snapshot, credentials });
  }

  /** A reason of our own: written down first, then acted on, also where it cannot be written down. */
  #stop(reason: EndReason): void {
    if (this.#left !== null) return;
    this.#fault ??= stopInStore(this.#parts.store, this.turn.turnId, reason);
    this.end(reason, false);
  }

  #requeue(reason: 'park' | 'drain'): void {
    const { governor, log, budgetFreed } = this.#parts;
    const { turnId } = this.turn;
    putBack(this.#parts, turnId, this.#running, { ...this.#countsSoFar(), lostCall: this.#lost() });
    this.#close('requeued');
    log('turn.requeued', { turn_id: turnId, reason });
    this.#beside.abort(reason);
    this.#worker?.end(reason, { now: reason === 'drain' });
    if (governor.active) budgetFreed();
  }

  #settle(terminal: Terminal | null, exit: WorkerExit | null): void {
    const { masker, finished } = this.#parts;
    const running = this.#running;
    // A window that was put back has given its account.
    const parked = this.#left === 'requeued';
    const counts = this.#countsSoFar();
    const ending = endingOf({
      terminal,
      exit,
      endRequested: this.#endReason,
      fault: this.#fault ?? exit?.fault ?? null,
      ...counts,
      lostCall: parked ? null : this.#lost(),
      mask: (text) => masker.text(text),
    });
    if (running !== null) running.ending = true;
    this.#beside.abort('cancel');
    const activeMs = parked ? 0 : counts.activeMs;
    const row = settleTurn(this.#parts, this.turn.turnId, parked ? null : running, { ...ending, activeMs });
    if (row === null) return;
    this.#ended(row);
    if (terminal?.kind === 'outcome' && terminal.outcome.finish !== undefined)
      finished?.(this.turn.turnId, terminal.outcome.finish);
  }

  #ended(row: TurnRow | null): void {
    if (row === null) return;
    this.#row = row;
    this.#close('ended');
    this.#resolveSettled(row);
    // The outcome is safe; a worker that lingers after its last frame is not waited for longer than the ladder.
    this.#worker?.end('operator');
  }

  #close(left: 'ended' | 'requeued'): void {
    this.#left = left;
    this.#watch?.close();
    this.#cancelDeadline();
    this.#name?.turnEnded();
  }

  /** The store takes no more, as on a full disk. Who waits is told; the next start settles the turn. */
  #giveUp(error: unknown): void {
    if (this.#row === null) throw error;
    this.#left = 'unrecorded';
    const failure = this.#fault ?? unrecorded(error);
    this.#parts.log('turn.unrecorded', { turn_id: this.turn.turnId, message: failure.message });
    this.#resolveSettled(unrecordedEnd(this.#row, failure, this.#running));
  }

  #countsSoFar(): { rounds: number; toolCalls: number; activeMs: number } {
    return {
      rounds: this.#running?.rounds ?? 0,
      toolCalls: this.#running?.toolCalls ?? 0,
      activeMs: this.#openedMs === null ? 0 : this.#parts.clock.monotonic() - this.#openedMs,
    };
  }

  #lost(): Ending['lostCall'] {
    return this.#running?.modelCallOpen ? lostCallOf(this.#running, this.#parts.governor) : null;
  }
}
