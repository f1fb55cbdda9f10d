// One command inside its containment, from the moment it runs: what it left behind, and its end — all of it, always.
// Knows nothing of limits, sessions or results; those are the tools'.
import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { type Clock, sleep } from '../../shared/clock.js';
import type { CommandOutput } from './command-output.js';
import type { InitLine } from './init-line.js';
import { COMMAND_MARKER } from './init-script.js';
import type { Layer } from './layers.js';
import { childrenOf, descendantsOf, type ProcessInfo, processesWith, signalProcess } from './process-tree.js';

/** How long the kernel may take to end what got SIGKILL before we stop waiting for it. */
const REAP_MS = 2000;
/** Rounds of the search for marked processes: one may fork while we read the list. */
const SWEEP_ROUNDS = 5;

export interface CommandParts {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<void>;
  readonly line: InitLine;
  readonly layer: Layer;
  readonly id: string;
  readonly output: CommandOutput;
  readonly stdin: Writable | null;
  readonly clock: Clock;
}

export class ContainedCommand {
  /** Null when the command was started without an open standard input. */
  readonly stdin: Writable | null;
  readonly output: CommandOutput;
  readonly layer: Layer['name'];
  /** Resolves when the command itself ended, with its status as a shell tells it; null when its init was killed first. */
  readonly status: Promise<number | null>;
  readonly #parts: CommandParts;
  #statusKnown = false;
  #ending: Promise<number> | null = null;

  constructor(parts: CommandParts) {
    this.#parts = parts;
    this.stdin = parts.stdin;
    this.output = parts.output;
    this.layer = parts.layer.name;
    this.status = parts.line.status.then((status) => {
      this.#statusKnown = true;
      return status;
    });
  }

  /** What the command started and left running, once the command itself has ended. Looked up anew by each call. */
  leftBehind(): readonly ProcessInfo[] {
    const init = this.#init();
    if (this.layer === 'pid_namespace') {
      // Orphans of a namespace become children of its init: no child, nothing left, and no walk over /proc needed.
      return init === null || childrenOf(init).length === 0 ? [] : descendantsOf(init);
    }
    return this.#marked();
  }

  /** Sends a signal to the command and whatever shares its process group. */
  interrupt(signal: NodeJS.Signals): void {
    const init = this.#init();
    if (init === null) return;
    for (const pid of childrenOf(init)) signalProcess(-pid, signal);
  }

  /**
   * Ends everything: SIGTERM to each process and at most `graceMs` for the command to leave, then SIGKILL. Resolves to the
   * number of processes still there: 0, unless the kernel itself holds one or no namespace kept them together.
   */
  end(graceMs: number): Promise<number> {
    this.#ending ??= this.#end(graceMs);
    return this.#ending;
  }

  async #end(graceMs: number): Promise<number> {
    const { clock, line, exited, pid } = this.#parts;
    if (graceMs > 0 && !this.#statusKnown) {
      for (const { pid: each } of this.#tree()) signalProcess(each, 'SIGTERM');
      await withinMs(clock, graceMs, this.status);
    }
    const left = this.layer === 'pid_namespace' ? await this.#endNamespace() : await this.#endGroup();
    line.close();
    if (!(await withinMs(clock, REAP_MS, exited))) signalProcess(pid, 'SIGKILL');
    return left;
  }

  /** The init leaves last: its end is the end of everything in the namespace, and the wrapper's end tells us so. */
  async #endNamespace(): Promise<number> {
    const { clock, exited, pid } = this.#parts;
    const init = this.#init();
    if (init !== null) signalProcess(init, 'SIGKILL');
    else signalProcess(pid, 'SIGKILL');
    if (await withinMs(clock, REAP_MS, exited)) return 0;
    return init === null ? 0 : 1 + descendantsOf(init).length;
  }

  async #endGroup(): Promise<number> {
    const { pid, clock } = this.#parts;
    let found = this.#tree();
    for (let round = 0; round < SWEEP_ROUNDS && found.length > 0; round += 1) {
      for (const { pid: each } of found) signalProcess(each, 'SIGKILL');
      await sleep(clock, 5 * round);
      found = this.#tree();
    }
    signalProcess(-pid, 'SIGKILL');
    return found.length;
  }

  /** All processes of the command, without its init. */
  #tree(): ProcessInfo[] {
    const init = this.#init();
    const below = init === null ? [] : descendantsOf(init);
    if (this.layer === 'pid_namespace') return below;
    const seen = new Set(below.map((each) => each.pid));
    return [...below, ...this.#marked().filter((each) => !seen.has(each.pid))];
  }

  #marked(): ProcessInfo[] {
    return processesWith(`${COMMAND_MARKER}=${this.#parts.id}`);
  }

  /** The wrapper stays outside of the namespace and has one child, the init; without a namespace it is the init. */
  #init(): number | null {
    if (this.layer === 'process_group') return this.#parts.pid;
    return childrenOf(this.#parts.pid)[0] ?? null;
  }
}

/** Whether `promise` settled within the time. */
export async function withinMs(clock: Clock, limitMs: number, promise: Promise<unknown>): Promise<boolean> {
  const stop = new AbortController();
  const timer = sleep(clock, limitMs, stop.signal).then(() => false);
  const settled = await Promise.race([promise.then(() => true), timer]);
  stop.abort();
  return settled;
}
