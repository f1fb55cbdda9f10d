// A command from its start to its end, with its limits: time, output, the turn's signal. Whoever waits for it may stop
// waiting (it is then a session); it ends by itself, by its limit, by the turn, or because it is told to.
import { Buffer } from 'node:buffer';
import { constants } from 'node:os';
import { join } from 'node:path';
import { type Clock, sleep } from '../../shared/clock.js';
import { type ContainedCommand, withinMs } from '../sandbox/contained-command.js';
import type { ToolContext } from './executor.js';
import { LiveOutput } from './live-output.js';
import { type KeptOutput, OutputBuffer } from './output-buffer.js';
import { SpillFile } from './spill-file.js';

/** Between SIGTERM and SIGKILL: enough to remove a lock file, short against the grace of a cancelled turn. */
const END_GRACE_MS = 300;
/** What the command leaves behind may finish by itself in this time (`> >(tee log)`); later it is ended. */
const LEFT_BEHIND_MS = 100;
const LEFT_BEHIND_STEP_MS = 20;
/** For output still in the pipe once every writer is gone. */
const DRAIN_MS = 1000;

export type EndCause = 'exit' | 'timeout' | 'interrupted' | 'killed';

export interface CommandEnd {
  readonly cause: EndCause;
  /** As a shell tells it; null when the command did not end by itself. */
  readonly exitCode: number | null;
  /** The signal that a shell means by a status above 128. */
  readonly signal: string | null;
  /** Names of processes that the command left running, and that were ended. */
  readonly leftBehind: readonly string[];
  /** Processes that could not be ended. */
  readonly left: number;
}

let spills = 0;

export class RunningCommand {
  readonly limitMs: number;
  /** Resolves once all of it is over: every process ended, the output read, the spill complete. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  readonly command: ContainedCommand;
  readonly #context: ToolContext;
  readonly #buffer: OutputBuffer;
  readonly #live: LiveOutput;
  readonly #startedAt: number;
  #endedAt: number | null = null;
  #lastOutputAt = 0;
  #totalBytes = 0;
  #spill: SpillFile | null = null;
  #stop: (cause: EndCause) => void = () => undefined;
  #noGrace = false;
  #cut = false;

  /** Takes over a command that has just been started. `startedAt` is monotonic. */
  constructor(command: ContainedCommand, limitMs: number, context: ToolContext, startedAt: number) {
    this.command = command;
    this.limitMs = limitMs;
    this.#context = context;
    this.#startedAt = startedAt;
    this.#buffer = new OutputBuffer(context.limits.tool_output_bytes);
    this.#live = new LiveOutput(context.clock, context.output);
    const stopped = new Promise<EndCause>((resolve) => {
      this.#stop = resolve;
    });
    this.ended = this.#run(stopped);
  }

  get clock(): Clock {
    return this.#context.clock;
  }

  get durationMs(): number {
    return Math.round((this.#endedAt ?? this.clock.monotonic()) - this.#startedAt);
  }

  get isOver(): boolean {
    return this.#endedAt !== null;
  }

  /** Everything printed so far, whether taken or not. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** The file with the whole output, once there was a reason for one. */
  get spill(): SpillFile | null {
    return this.#spill;
  }

  /** Ends the whole tree; `ended` tells when it is done. The first cause counts. */
  stop(cause: EndCause, options: { readonly noGrace?: boolean } = {}): void {
    if (options.noGrace === true) this.#noGrace = true;
    this.#stop(cause);
  }

  /** Whether something of the output was never shown as it is, so that the whole of it is worth keeping. */
  get wasCut(): boolean {
    return this.#cut;
  }

  /** Output since the last time. */
  takeOutput(): KeptOutput {
    const kept = this.#buffer.take();
    if (kept.omittedBytes > 0) this.#cut = true;
    return kept;
  }

  /** Keeps the whole output in a file from here on, with what was printed so far. Call before output is first taken. */
  keepWhole(): void {
    if (this.#spill !== null || this.#context.limits.spill_bytes === 0) return;
    spills += 1;
    const path = join(this.#context.spoolDir, `command-${process.pid}-${spills}.out`);
    const { spill_bytes: capBytes } = this.#context.limits;
    this.#spill = new SpillFile(path, capBytes, () => this.command.output.resume());
    const { head, tail } = this.#buffer.kept();
    this.#spill.write(Buffer.concat([head, tail]));
  }

  /** Waits for the end, or for `waitMs`, or until there is new output followed by `quietMs` of silence. */
  async wait(waitMs: number, quietMs = Number.POSITIVE_INFINITY): Promise<void> {
    const until = this.clock.monotonic() + waitMs;
    if (quietMs === Number.POSITIVE_INFINITY) {
      await withinMs(this.clock, waitMs, this.ended);
      return;
    }
    while (!this.isOver && this.clock.monotonic() < until) {
      const silentMs = this.clock.monotonic() - this.#lastOutputAt;
      if (this.#buffer.bytes > 0 && silentMs >= quietMs) return;
      await withinMs(this.clock, Math.min(quietMs / 4, until - this.clock.monotonic()), this.ended);
    }
  }

  #onChunk(chunk: Buffer): boolean {
    this.#totalBytes += chunk.length;
    this.#lastOutputAt = this.clock.monotonic();
    const binary = !this.#cut && chunk.includes(0);
    if (binary) this.#cut = true;
    if (binary || this.#buffer.bytes + chunk.length > this.#context.limits.tool_output_bytes)
      this.keepWhole();
    this.#buffer.push(chunk);
    this.#live.push(chunk);
    return this.#spill === null || this.#spill.write(chunk);
  }

  async #run(stopped: Promise<EndCause>): Promise<CommandEnd> {
    const { signal } = this.#context;
    const outputOver = new Promise<void>((resolve) => {
      this.command.output.read((chunk) => this.#onChunk(chunk), resolve);
    });
    const onAbort = (): void => this.#stop('interrupted');
    const cancelLimit = this.clock.after(this.limitMs, () => this.#stop('timeout'));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const status = this.command.status.then((code) => ({ cause: 'exit' as const, code }));
    const first = await Promise.race([status, stopped.then((cause) => ({ cause, code: null }))]);
    cancelLimit();
    const end =
      first.cause === 'exit' ? await this.#afterExit(first.code) : await this.#afterStop(first.cause);
    signal.removeEventListener('abort', onAbort);
    if (!(await withinMs(this.clock, DRAIN_MS, outputOver))) this.command.output.destroy();
    this.command.stdin?.destroy();
    this.#live.end();
    this.#endedAt = this.clock.monotonic();
    return end;
  }

  async #afterStop(cause: EndCause): Promise<CommandEnd> {
    const left = await this.command.end(this.#noGrace ? 0 : END_GRACE_MS);
    return { cause, exitCode: null, signal: null, leftBehind: [], left };
  }

  async #afterExit(status: number | null): Promise<CommandEnd> {
    let behind = this.command.leftBehind();
    const until = this.clock.monotonic() + LEFT_BEHIND_MS;
    while (behind.length > 0 && this.clock.monotonic() < until) {
      const slept = await sleep(this.clock, LEFT_BEHIND_STEP_MS, this.#context.signal);
      if (slept === 'aborted') break;
      behind = this.command.leftBehind();
    }
    const left = await this.command.end(0);
    const leftBehind = behind.map((each) => each.name);
    if (status === null) return { cause: 'killed', exitCode: null, signal: 'SIGKILL', leftBehind, left };
    return { cause: 'exit', exitCode: status, signal: signalOf(status), leftBehind, left };
  }
}

function signalOf(status: number): string | null {
  const number = status - 128;
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] ?? null;
}
