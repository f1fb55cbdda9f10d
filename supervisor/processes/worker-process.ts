// One worker as the rest of the supervisor sees it: hello and ready, frames, signs of life, and one report of its end.
import type { Clock } from '../../shared/clock.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import { IPC_VERSION } from '../../shared/ipc/version.js';
import { makeMasker } from '../../shared/mask.js';
import type { EndReason } from '../../shared/outcome.js';
import { type Entered, enterCgroup } from './cgroup.js';
import { Channel } from './channel.js';
import type { Guard } from './guard.js';
import { Heartbeat } from './heartbeat.js';
import { Reaper } from './reaper.js';
import { type Launched, type LaunchedWorker, launchWorker } from './spawn-worker.js';
import type { WorkerExit, WorkerHandle } from './types.js';

export interface WorkerLimits {
  readonly cancelGraceMs: number;
  readonly killGraceMs: number;
  readonly giveUpMs: number;
  readonly progressMs: number;
  readonly pongMs: number;
  /** From the spawn to `ready`. */
  readonly startMs: number;
  readonly queueMaxBytes: number;
}

export interface WorkerOptions {
  readonly workerId: string;
  readonly file: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly limits: WorkerLimits;
  /** Ends the worker when this process is killed. */
  readonly guard: Guard;
  /** The process, when it was launched ahead; it carries `workerId` as its marker. */
  readonly launched?: Launched | null;
}

type Fault = NonNullable<WorkerExit['fault']>;

/** A worker that may still have to get ready. */
export interface StartedWorker extends WorkerHandle {
  /** Resolves with true at the next `prepared`, with false when the worker ended before it. */
  whenPrepared(): Promise<boolean>;
}

/** Starts a worker. Never throws: a failed start is a handle whose `ended` carries the fault. */
export function startWorker(options: WorkerOptions): StartedWorker {
  const { file, environment, workerId: marker } = options;
  const launched = options.launched ?? launchWorker({ file, environment, marker });
  return 'failed' in launched ? failedStart(marker, launched.failed) : new WorkerProcess(options, launched);
}

function failedStart(workerId: string, failed: Promise<string>): StartedWorker {
  const ended = failed.then(
    (message): WorkerExit => ({
      code: null,
      signal: null,
      fault: { code: 'worker_start_failed', message: `the worker could not be started: ${message}` },
      swept: 0,
      prints: '',
    }),
  );
  return {
    workerId,
    marker: workerId,
    pid: 0,
    pidStart: '0',
    prepared: false,
    ready: ended.then(() => false),
    whenPrepared: () => ended.then(() => false),
    send: () => false,
    drained: () => Promise.resolve(),
    onFrame: () => undefined,
    ended,
    end: () => undefined,
  };
}

class WorkerProcess implements StartedWorker {
  readonly workerId: string;
  readonly marker: string;
  readonly pid: number;
  readonly pidStart: string;
  readonly ended: Promise<WorkerExit>;
  readonly ready: Promise<boolean>;
  prepared = false;
  readonly #options: WorkerOptions;
  readonly #channel: Channel;
  readonly #reaper: Reaper;
  readonly #cgroup: Entered | null;
  readonly #early: ToSupervisor[] = [];
  #listener: ((frame: ToSupervisor) => void) | null = null;
  #state: 'started' | 'greeted' | 'ready' = 'started';
  #fault: Fault | null = null;
  #over = false;
  #heartbeat: Heartbeat | null = null;
  #masked: readonly string[] = [];
  #resolveReady: (ready: boolean) => void = () => undefined;
  #preparedWaiters: ((prepared: boolean) => void)[] = [];
  #cancelStart: () => void;

  constructor(options: WorkerOptions, launched: LaunchedWorker) {
    this.#options = options;
    this.workerId = options.workerId;
    this.marker = options.workerId;
    this.pid = launched.pid;
    this.pidStart = launched.pidStart;
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
    let lastFrame: () => void = () => undefined;
    const delivered = new Promise<void>((resolve) => {
      lastFrame = resolve;
    });
    this.#channel = new Channel(
      launched.down,
      launched.up,
      {
        frame: (frame) => this.#take(frame),
        fault: (message) => this.#fail('protocol_violation', message, 'protocol'),
        end: lastFrame,
      },
      options.limits.queueMaxBytes,
    );
    this.#cgroup = enterCgroup(this.workerId, this.pid);
    this.#reaper = new Reaper({
      child: launched.child,
      pid: this.pid,
      pidStart: this.pidStart,
      marker: this.marker,
      cgroup: this.#cgroup?.group ?? null,
      clock: options.clock,
      limits: options.limits,
      drained: Promise.all([delivered, launched.prints.ended]),
      sendCancel: (reason) => void this.#channel.send({ type: 'cancel', reason }),
    });
    this.ended = this.#report(launched);
    this.#cancelStart = options.clock.after(options.limits.startMs, () =>
      this.#fail('worker_start_failed', 'the worker did not get ready in time', 'stuck'),
    );
    this.#channel.send({ type: 'hello', version: IPC_VERSION, worker_id: this.workerId });
  }

  send(frame: ToWorker): boolean {
    if (frame.type === 'prepare') this.prepared = false;
    if (frame.type === 'turn' && this.#heartbeat === null && !this.#over) this.#startHeartbeat(frame);
    return this.#channel.send(frame);
  }

  drained(): Promise<void> {
    return this.#channel.drained();
  }

  onFrame(listener: (frame: ToSupervisor) => void): void {
    this.#listener = listener;
    for (const frame of this.#early.splice(0)) listener(frame);
  }

  whenPrepared(): Promise<boolean> {
    const waiting = new Promise<boolean>((resolve) => {
      this.#preparedWaiters.push(resolve);
    });
    return Promise.race([waiting, this.ended.then(() => false)]);
  }

  end(reason: EndReason, options: { readonly now?: boolean } = {}): void {
    this.#reaper.end(reason, options.now ?? false);
  }

  #take(frame: ToSupervisor): void {
    if (frame.type === 'hello') this.#greet(frame.version);
    else if (this.#state === 'started')
      this.#fail('protocol_violation', `a worker sent ${frame.type} before its hello`, 'protocol');
    else if (frame.type === 'pong') this.#heartbeat?.pong();
    else this.#progress(frame);
  }

  #progress(frame: ToSupervisor): void {
    this.#heartbeat?.progress();
    if (frame.type === 'ready') this.#becomeReady();
    else if (frame.type === 'prepared') {
      this.prepared = true;
      for (const resolve of this.#preparedWaiters.splice(0)) resolve(true);
    } else if (this.#listener === null) this.#early.push(frame);
    else this.#listener(frame);
  }

  #greet(version: number): void {
    if (version === IPC_VERSION) {
      this.#state = 'greeted';
      return;
    }
    const message = `the worker speaks version ${version} of the private wire, this supervisor version ${IPC_VERSION}: restart it after an upgrade`;
    this.#fail('protocol_violation', message, 'protocol');
  }

  #becomeReady(): void {
    this.#state = 'ready';
    this.#cancelStart();
    // Nobody gets a worker whose children could escape; the move is long over by now, nearly always.
    void (this.#cgroup?.moved ?? Promise.resolve()).then(() => {
      this.#resolveReady(true);
      // After the turn was sent: the spawn of a guard takes a moment, and nothing can come of the turn so soon.
      setImmediate(() => this.#guarded());
    });
  }

  #guarded(): void {
    if (this.#over) return;
    const { pid, marker } = this;
    this.#options.guard.add({ pid, marker, cgroup: this.#cgroup?.group.path ?? null });
  }

  #fail(code: Fault['code'], message: string, reason: EndReason): void {
    this.#fault ??= { code, message };
    this.#reaper.end(reason, true);
  }

  #startHeartbeat(frame: Extract<ToWorker, { type: 'turn' }>): void {
    const { clock, limits } = this.#options;
    this.#masked = [...frame.credentials.mask, ...(frame.credentials.token ? [frame.credentials.token] : [])];
    // The turn's owner watches the deadline too and ends it earlier; this is the backstop.
    const slackMs = limits.cancelGraceMs + limits.killGraceMs;
    this.#heartbeat = new Heartbeat({
      clock,
      limits,
      deadlineAtMs: clock.monotonic() + frame.snapshot.limits.deadline_ms + slackMs,
      ping: (seq) => void this.#channel.send({ type: 'ping', seq }),
      verdict: (verdict) => {
        if (verdict === 'overdue') return this.end('deadline');
        this.#fault ??= { code: 'worker_stuck', message: this.#stuckMessage() };
        this.end('stuck');
      },
    });
  }

  #stuckMessage(): string {
    const { progressMs, pongMs } = this.#options.limits;
    return `the worker made no progress for ${progressMs} ms and did not answer for ${pongMs} ms`;
  }

  async #report(launched: LaunchedWorker): Promise<WorkerExit> {
    const { code, signal, swept, gaveUp } = await this.#reaper.ended;
    this.#over = true;
    this.#options.guard.remove(this.pid);
    this.#cancelStart();
    this.#heartbeat?.stop();
    this.#channel.close();
    launched.child.stdout?.destroy();
    launched.child.stderr?.destroy();
    launched.child.unref();
    const prints = makeMasker(this.#masked).text(launched.prints.tail());
    if (gaveUp) this.#fault ??= { code: 'worker_stuck', message: 'the worker could not be killed' };
    if (this.#state !== 'ready')
      this.#fault ??= {
        code: 'worker_start_failed',
        message: `the worker ended before it was ready (${signal ?? `code ${code}`})`,
      };
    this.#resolveReady(false);
    return { code, signal, fault: this.#fault, swept, prints };
  }
}
