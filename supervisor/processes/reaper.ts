// Ends a worker and everything it started, and says when that is done. It carries out what the ladder decides; after
// the process is reaped, however it ended, its group gets SIGKILL and what left the group is swept. Only then, and only
// after the last frame was delivered, is the end reported.
import type { ChildProcess } from 'node:child_process';
import { type Clock, sleep } from '../../shared/clock.js';
import type { EndReason } from '../../shared/outcome.js';
import type { WorkerCgroup } from './cgroup.js';
import { climb, hurry, type Ladder, type LadderLimits, startLadder } from './kill-ladder.js';
import type { ProcessStat } from './proc-files.js';
import { signalGroup } from './signals.js';
import { isStray, killTree, type Quarry, sweep } from './sweep.js';

/** How long the last frames of a dead worker are waited for: a process that survived it may hold the socket open. */
const LAST_FRAMES_MS = 2_000;
const CGROUP_TRIES = 20;

export interface ReaperParts {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly pidStart: string;
  readonly marker: string;
  readonly cgroup: WorkerCgroup | null;
  readonly clock: Clock;
  readonly limits: LadderLimits;
  /** Resolves when every frame and every print was read. */
  readonly drained: Promise<unknown>;
  sendCancel(reason: EndReason): void;
}

export interface Reaped {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly swept: number;
  /** The process did not go away even by SIGKILL. */
  readonly gaveUp: boolean;
}

export class Reaper {
  readonly ended: Promise<Reaped>;
  readonly #parts: ReaperParts;
  readonly #known = new Map<number, string>();
  readonly #strays = new Set<string>();
  #ladder: Ladder | null = null;
  #gone = false;
  #cancelTimer: () => void = () => undefined;
  #giveUp: () => void = () => undefined;

  constructor(parts: ReaperParts) {
    this.#parts = parts;
    const exited = new Promise<Omit<Reaped, 'swept'>>((resolve) => {
      const { exitCode, signalCode } = parts.child;
      // One that was launched ahead may be over before anyone looks.
      if (typeof exitCode === 'number' || typeof signalCode === 'string')
        resolve({ code: exitCode, signal: signalCode, gaveUp: false });
      parts.child.once('exit', (code, signal) => resolve({ code, signal, gaveUp: false }));
      this.#giveUp = () => resolve({ code: null, signal: null, gaveUp: true });
    });
    this.ended = exited.then((exit) => this.#finish(exit));
  }

  /** Starts the ladder; with `now` goes to SIGKILL, from wherever it stands. */
  end(reason: EndReason, now: boolean): void {
    if (this.#gone) return;
    const { clock, limits } = this.#parts;
    if (this.#ladder === null) this.#step(startLadder(limits, clock.monotonic(), now), reason);
    else if (now) this.#step(hurry(this.#ladder, limits, clock.monotonic()), reason);
  }

  #step(ladder: Ladder | null, reason: EndReason): void {
    if (ladder !== null) {
      this.#ladder = ladder;
      this.#act(ladder, reason);
    }
    const { clock, limits } = this.#parts;
    this.#cancelTimer();
    const nextAtMs = this.#ladder?.nextAtMs ?? null;
    if (nextAtMs === null || this.#gone) return;
    this.#cancelTimer = clock.after(nextAtMs - clock.monotonic(), () => {
      if (this.#ladder !== null) this.#step(climb(this.#ladder, limits, clock.monotonic()), reason);
    });
  }

  #act(ladder: Ladder, reason: EndReason): void {
    const { pid } = this.#parts;
    if (ladder.rung === 'cancel') this.#parts.sendCancel(reason);
    else if (ladder.rung === 'term') signalGroup(pid, 'SIGTERM');
    else if (ladder.rung === 'kill') {
      const found = killTree(this.#quarry());
      for (const stat of found) this.#known.set(stat.pid, stat.start);
      this.#count(found);
    } else this.#giveUp();
  }

  #count(ended: readonly ProcessStat[]): void {
    const quarry = this.#quarry();
    for (const stat of ended) if (isStray(quarry, stat)) this.#strays.add(`${stat.pid}:${stat.start}`);
  }

  #quarry(): Quarry {
    return { ...this.#parts, known: this.#known };
  }

  async #finish(exit: Omit<Reaped, 'swept'>): Promise<Reaped> {
    const { pid, clock, cgroup, drained } = this.#parts;
    this.#gone = true;
    this.#cancelTimer();
    // Even after a clean exit: nothing of a turn outlives it.
    signalGroup(pid, 'SIGKILL');
    this.#count(await sweep(this.#quarry(), clock));
    const waiting = new AbortController();
    await Promise.race([drained, sleep(clock, LAST_FRAMES_MS, waiting.signal)]);
    waiting.abort();
    for (let tries = 0; cgroup !== null && !(await cgroup.remove()) && tries < CGROUP_TRIES; tries += 1)
      await sleep(clock, 5);
    return { ...exit, swept: this.#strays.size };
  }
}
