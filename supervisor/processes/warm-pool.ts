// Keeps workers ready before they are needed. A spare serves exactly one turn and is replaced when it is taken; one
// that dies idle is replaced too, later and later while that keeps happening. What a spare prepares for is a target:
// it rehearses once it has been idle for a moment, so that a full queue takes spares as they come and pays for none of it.
import { newId } from '../../shared/ids.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import { QUEUE_MAX_BYTES } from './channel.js';
import { Guard } from './guard.js';
import type { LaunchedAhead, WarmPool, WarmPoolOptions, WorkerHandle } from './types.js';
import { workerFile } from './worker-file.js';
import { type StartedWorker, startWorker, type WorkerLimits } from './worker-process.js';

const GIVE_UP_MS = 10_000;
const START_MS = 30_000;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 30_000;
/** Idle time before a spare prepares, and between two refreshes of its open connection. */
const SETTLE_MS = 20;
const REFRESH_MS = 25_000;

export function makeWarmPool(options: WarmPoolOptions): WarmPool {
  return new Spares(options);
}

interface Spare {
  readonly worker: StartedWorker;
  state: 'starting' | 'ready' | 'preparing' | 'prepared';
  cancelTimer: () => void;
}

/** Which spare to hand out first. One that is just preparing would answer only after its rehearsal. */
const RANK: Record<Spare['state'], number> = { prepared: 3, ready: 2, preparing: 1, starting: 0 };

class Spares implements WarmPool {
  readonly #options: WarmPoolOptions;
  readonly #limits: WorkerLimits;
  readonly #spares = new Set<Spare>();
  readonly #file = workerFile();
  readonly #guard = new Guard();
  /** Spares and workers with a turn: the guard stays as long as one of them lives. */
  readonly #alive = new Set<StartedWorker>();
  #target: { readonly model: ModelSettings; readonly ca: string | undefined } | null = null;
  #open = false;
  #closed = false;
  #deaths = 0;
  #ahead: LaunchedAhead | null;
  #cancelRefill: () => void = () => undefined;

  constructor(options: WarmPoolOptions) {
    const { cancelGraceMs, killGraceMs, progressMs, pongMs } = options;
    this.#options = options;
    this.#ahead = options.ahead ?? null;
    this.#limits = {
      cancelGraceMs,
      killGraceMs,
      progressMs,
      pongMs,
      giveUpMs: GIVE_UP_MS,
      startMs: START_MS,
      queueMaxBytes: QUEUE_MAX_BYTES,
    };
  }

  start(): void {
    if (this.#open || this.#closed) return;
    this.#open = true;
    this.#fill();
  }

  take(): WorkerHandle {
    const best = [...this.#spares].sort((left, right) => RANK[right.state] - RANK[left.state])[0];
    if (best !== undefined) this.#drop(best);
    const worker = best?.worker ?? this.#spawn();
    void worker.ready.then((ready) => {
      if (!ready) return;
      this.#deaths = 0;
      // Replaced only after this one is at work, so that the two do not compete for the machine.
      if (this.#options.replaceUsed) setImmediate(() => this.#fill());
    });
    return worker;
  }

  target(model: ModelSettings | null, ca: string | undefined): void {
    this.#target = model === null ? null : { model, ca };
    // One that starts or prepares looks at the target when it is done.
    for (const spare of this.#spares)
      if (spare.state === 'ready' || spare.state === 'prepared') this.#settle(spare, SETTLE_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRefill();
    const spares = [...this.#spares];
    for (const spare of spares) {
      this.#drop(spare);
      spare.worker.end('drain', { now: true });
    }
    await Promise.all(spares.map((spare) => spare.worker.ended));
    this.#releaseGuard();
  }

  #spawn(): StartedWorker {
    const ahead = this.#ahead;
    this.#ahead = null;
    const worker = startWorker({
      workerId: ahead?.workerId ?? newId('worker', this.#options.clock.now()),
      launched: ahead?.launched ?? null,
      file: this.#file,
      environment: process.env,
      clock: this.#options.clock,
      limits: this.#limits,
      guard: this.#guard,
    });
    this.#alive.add(worker);
    void worker.ended.then(() => {
      this.#alive.delete(worker);
      this.#releaseGuard();
    });
    return worker;
  }

  #releaseGuard(): void {
    if (this.#closed && this.#alive.size === 0) this.#guard.close();
  }

  #fill(): void {
    while (this.#open && !this.#closed && this.#spares.size < this.#options.spares) this.#add();
  }

  #add(): void {
    const spare: Spare = { worker: this.#spawn(), state: 'starting', cancelTimer: () => undefined };
    this.#spares.add(spare);
    void spare.worker.ready.then((ready) => {
      if (!ready || !this.#spares.has(spare)) return;
      spare.state = 'ready';
      this.#settle(spare, SETTLE_MS);
    });
    void spare.worker.ended.then(() => {
      if (!this.#spares.has(spare)) return;
      this.#drop(spare);
      this.#refillLater();
    });
  }

  #drop(spare: Spare): void {
    spare.cancelTimer();
    this.#spares.delete(spare);
  }

  #refillLater(): void {
    const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** this.#deaths);
    this.#deaths += 1;
    this.#cancelRefill();
    this.#cancelRefill = this.#options.clock.after(delayMs, () => this.#fill());
  }

  #settle(spare: Spare, delayMs: number): void {
    spare.cancelTimer();
    if (this.#target === null) return;
    spare.cancelTimer = this.#options.clock.after(delayMs, () => void this.#prepare(spare));
  }

  /** Also the spare's sign of life: one that does not answer is replaced. */
  async #prepare(spare: Spare): Promise<void> {
    if (this.#target === null || spare.state === 'preparing') return;
    const { model, ca } = this.#target;
    spare.state = 'preparing';
    const answered = spare.worker.whenPrepared();
    spare.worker.send({ type: 'prepare', model, ...(ca === undefined ? {} : { ca }) });
    const limitMs = this.#limits.pongMs + model.connect_ms;
    spare.cancelTimer = this.#options.clock.after(limitMs, () => spare.worker.end('stuck', { now: true }));
    const target = this.#target;
    if (!(await answered) || !this.#spares.has(spare)) return;
    spare.state = 'prepared';
    this.#settle(spare, this.#target === target ? REFRESH_MS : SETTLE_MS);
  }
}
