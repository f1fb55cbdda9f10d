// Notices when a turn does nothing but wait, and for how long. Then its worker is only a seat that is kept warm: after
// a while it is given up. No polling: it looks when something changed, and once when the time is over.
import type { Clock } from '../../shared/clock.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import { runningSession } from './requeue.js';

export interface ParkPorts {
  readonly clock: Clock;
  readonly parkAfterMs: number;
  /** No command may run longer than this. */
  readonly commandMaxMs: number;
  /** Calls of this turn that wait. */
  openWaits(): number;
  park(): void;
}

export class ParkWatch {
  readonly #ports: ParkPorts;
  /** Calls that the worker asked for and has no answer to, by wire id. */
  readonly #open = new Set<number>();
  readonly #sessionOf = new Map<number, number>();
  /** Sessions of commands that may still run, with the time at which each is over at the latest. */
  readonly #sessions = new Map<number, number>();
  #cancel: (() => void) | null = null;
  #closed = false;

  constructor(ports: ParkPorts) {
    this.#ports = ports;
  }

  up(frame: ToSupervisor): void {
    if (frame.type === 'tool_request') {
      this.#open.add(frame.id);
      if (typeof frame.arguments.session_id === 'number')
        this.#sessionOf.set(frame.id, frame.arguments.session_id);
    } else if (frame.type === 'tool_result') this.#heed(frame.id, frame.result.content);
    this.look();
  }

  down(frame: ToWorker): void {
    if (frame.type !== 'tool_answered' && frame.type !== 'tool_committed') return;
    this.#open.delete(frame.id);
    this.#sessionOf.delete(frame.id);
    this.look();
  }

  /** Something about its waits may have changed. */
  look(): void {
    if (this.#closed || this.#open.size === 0 || this.#ports.openWaits() !== this.#open.size) this.#stop();
    else if (this.#cancel === null) this.#start(this.#ports.parkAfterMs);
  }

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #start(delayMs: number): void {
    this.#cancel = this.#ports.clock.after(delayMs, () => {
      this.#cancel = null;
      // A command that runs while the turn waits for it would end with the worker.
      const busyMs = this.#busyForMs();
      if (busyMs > 0) this.#start(busyMs);
      else this.#ports.park();
    });
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #heed(id: number, content: unknown): void {
    const session = runningSession(content);
    const polled = this.#sessionOf.get(id);
    const { clock, commandMaxMs } = this.#ports;
    if (session === null && polled !== undefined) this.#sessions.delete(polled);
    if (session !== null) this.#sessions.set(session, clock.monotonic() + endsInMs(content, commandMaxMs));
  }

  #busyForMs(): number {
    const latest = Math.max(0, ...this.#sessions.values());
    return Math.max(0, latest - this.#ports.clock.monotonic());
  }
}

function endsInMs(content: unknown, otherwiseMs: number): number {
  const { ends_in_ms: endsIn } = content as { readonly ends_in_ms?: unknown };
  return typeof endsIn === 'number' ? Math.min(endsIn, otherwiseMs) : otherwiseMs;
}
