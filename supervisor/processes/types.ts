// What the rest of the supervisor sees of worker processes: a handle, its frames, and one report of its end.
import type { Clock } from '../../shared/clock.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { EndReason } from '../../shared/outcome.js';
import type { Launched } from './spawn-worker.js';

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Set when the process could not be started, or broke the wire (bad frame, frame over the cap, other version). */
  readonly fault: {
    readonly code: 'worker_start_failed' | 'protocol_violation' | 'worker_stuck';
    readonly message: string;
  } | null;
  /** Processes of the turn that outlived its group and were ended by the sweep. */
  readonly swept: number;
  /** Last lines of what the worker printed, for the log; masked. */
  readonly prints: string;
}

/** One worker process. It leads its own session and process group; `pid` is its pgid. */
export interface WorkerHandle {
  readonly workerId: string;
  /** 0 when the process could not be started. */
  readonly pid: number;
  readonly pidStart: string;
  /** Value of TURND_TURN in the environment of this worker and of all that it starts: its worker id. */
  readonly marker: string;
  /** Resolves with true at `ready`, with false when the worker ended before it. */
  readonly ready: Promise<boolean>;
  /** True once `prepared` came. */
  readonly prepared: boolean;
  /** Queues a frame; false when the worker is gone. Over the queue's bound the worker is ended as `protocol`. */
  send(frame: ToWorker): boolean;
  /** Resolves when the queue is below its mark; for back-pressure of bulk senders. */
  drained(): Promise<void>;
  /** The one listener for frames, set when the turn is handed over. Pongs and hellos never reach it. */
  onFrame(listener: (frame: ToSupervisor) => void): void;
  /** Resolves once: the process is reaped, every frame it sent was delivered, the group is dead and the sweep is done. */
  readonly ended: Promise<WorkerExit>;
  /** Starts the ladder, or shortens it when it runs already (`now` goes straight to SIGKILL). Idempotent. */
  end(reason: EndReason, options?: { readonly now?: boolean }): void;
}

/** A process that was launched and nothing more: nobody talks to it yet. */
export interface LaunchedAhead {
  readonly workerId: string;
  readonly launched: Launched;
}

export interface WarmPoolOptions {
  /** Spares kept ready (0 = every take spawns). */
  readonly spares: number;
  /** Spawn a new spare when one is taken. A job, which runs one turn, takes one spare ahead and replaces none. */
  readonly replaceUsed: boolean;
  readonly clock: Clock;
  readonly cancelGraceMs: number;
  readonly killGraceMs: number;
  readonly progressMs: number;
  readonly pongMs: number;
  /** A worker that was launched before there was a pool; it is the first spare. */
  readonly ahead?: LaunchedAhead | null;
}

export interface WarmPool {
  /** Spawns the spares; called once, early, because a worker's start overlaps with the supervisor's own. */
  start(): void;
  /** The readiest spare if there is one, else a fresh spawn. What is sent before its `ready` waits for it. Never throws: a failed start is a handle whose `ended` carries the fault. */
  take(): WorkerHandle;
  /** What spares should prepare for; idle spares are prepared again when it changes. */
  target(model: ModelSettings | null, ca: string | undefined): void;
  /** Ends all spares and spawns no more. */
  close(): Promise<void>;
}
