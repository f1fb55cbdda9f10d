// A worker played by a test, and a pool of such workers.
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { EndReason } from '../../shared/outcome.js';
import type { WarmPool, WorkerExit, WorkerHandle } from '../../supervisor/processes/types.js';

/** It records what it is sent, says what it is told, dies when it is told. */
export class PlayedWorker implements WorkerHandle {
  readonly workerId = 'worker_played';
  readonly pid = 999_999;
  readonly pidStart = '1';
  readonly marker = 'worker_played';
  readonly prepared = false;
  readonly ready = Promise.resolve(true);
  readonly sent: ToWorker[] = [];
  readonly ends: EndReason[] = [];
  readonly ended: Promise<WorkerExit>;
  die: (exit: Partial<WorkerExit>) => void = () => undefined;
  private listener: (frame: ToSupervisor) => void = () => undefined;

  constructor() {
    this.ended = new Promise((resolve) => {
      this.die = (exit) => resolve({ code: 0, signal: null, fault: null, swept: 0, prints: '', ...exit });
    });
  }
  send(frame: ToWorker): boolean {
    this.sent.push(frame);
    return true;
  }
  drained(): Promise<void> {
    return Promise.resolve();
  }
  onFrame(listener: (frame: ToSupervisor) => void): void {
    this.listener = listener;
  }
  end(reason: EndReason): void {
    this.ends.push(reason);
  }
  say(frame: ToSupervisor): void {
    this.listener(frame);
  }
}

/** Each worker that is taken is added to `workers`. */
export function poolOf(workers: PlayedWorker[]): WarmPool {
  return {
    start: () => undefined,
    target: () => undefined,
    close: () => Promise.resolve(),
    take: () => {
      const worker = new PlayedWorker();
      workers.push(worker);
      return worker;
    },
  };
}
