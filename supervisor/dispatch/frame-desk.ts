// The supervisor's end of one worker's wire: folds each frame, sends what comes of it, and sees to it that nothing told
// stays unwritten. A frame that cannot be folded ends this turn, never the supervisor.
import type { ErrorCode, Failure } from '../../shared/errors.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { WorkerHandle } from '../processes/types.js';
import { flushJournal, type RunningTurn } from '../tools/running-turn.js';
import { type FoldAnswer, type FoldReason, foldFrame, type ReachNews, type Terminal } from './fold-frame.js';
import type { ParkWatch } from './park-watch.js';
import type { RunnerParts } from './runner-parts.js';
import type { TurnBudget } from './turn-budget.js';
import { unrecorded } from './turn-evidence.js';

export interface DeskPorts {
  readonly parts: RunnerParts;
  readonly worker: WorkerHandle;
  readonly running: RunningTurn;
  readonly budget: TurnBudget;
  readonly watch: ParkWatch;
  /** Ends what is done for the turn beside its worker. */
  readonly beside: AbortSignal;
  /** The worker said how the turn ended. */
  terminal(terminal: Terminal): void;
  /** Why the turn cannot go on. */
  fault(failure: Failure): void;
}

export class FrameDesk {
  readonly #ports: DeskPorts;
  #seen = false;
  #flushing = false;

  constructor(ports: DeskPorts) {
    this.#ports = ports;
  }

  take(frame: ToSupervisor): void {
    const { running, parts, watch } = this.#ports;
    if (running.closed) return;
    try {
      if (!this.#seen) this.#markRunning();
      watch.up(frame);
      foldFrame(running, frame, {
        budget: this.#ports.budget,
        send: (down) => this.#send(down),
        compact: (reason) => this.#compact(reason),
        terminal: this.#ports.terminal,
        optionRefused: parts.optionRefused,
        retry: ({ attempt, delay_ms, reason }) =>
          parts.log('model.retry', { turn_id: running.turnId, attempt, delay_ms, reason }),
        reach: (news) => this.#reached(news),
        violation: (message) => this.#fail('protocol_violation', message),
        broken: (error) => this.broken(error),
      });
      this.#flushSoon();
    } catch (error) {
      this.broken(error);
    }
  }

  /** A step that could not be written down. */
  broken(error: unknown): void {
    const { code, message } = unrecorded(error);
    this.#fail(code, message);
  }

  #fail(code: ErrorCode, message: string): void {
    const { running, worker, fault } = this.#ports;
    fault({ code, message });
    running.ending = true;
    worker.end('protocol', { now: true });
  }

  #send(frame: ToWorker): void {
    if (this.#ports.running.closed) return;
    this.#ports.worker.send(frame);
    this.#ports.watch.down(frame);
  }

  #markRunning(): void {
    this.#seen = true;
    const { store, turnId } = this.#ports.running;
    if (store.turns.get(turnId)?.state !== 'starting') return;
    store.transact('worker_ready', () => store.turns.transition(turnId, 'ready'));
  }

  #reached(news: ReachNews): void {
    const { endpoint, log } = this.#ports.parts;
    const { event, ...fields } = news;
    if (news.event !== 'model_fallback') endpoint?.(news.url, news.event === 'endpoint_ok');
    if (event === 'endpoint_ok') return;
    log(event === 'model_fallback' ? 'model.fallback' : 'model.endpoint_failed', {
      turn_id: this.#ports.running.turnId,
      ...fields,
    });
  }

  #compact(reason: FoldReason): Promise<FoldAnswer> {
    const { parts, running, beside } = this.#ports;
    const { turnId, threadId, snapshot } = running;
    if (parts.compact === undefined)
      return Promise.resolve({ messages: null, problem: 'nothing is ever folded' });
    return parts.compact({ turnId, threadId, snapshot }, reason, beside);
  }

  /** What no later frame of the same bundle took along is written once the bundle is through. */
  #flushSoon(): void {
    const { running } = this.#ports;
    if (running.unwritten.length === 0 || this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      try {
        flushJournal(running);
      } catch (error) {
        this.broken(error);
      }
    });
  }
}
