// The worker's end of the private wire: always listening, so that a cancel, a ping or the supervisor's death is seen
// whatever the turn is doing. It keeps what waits for an answer, by id; it does not know what a turn is.
import type { Socket } from 'node:net';
import { encodeFrame, FrameReader } from '../shared/ipc/codec.js';
import { parseFrame } from '../shared/ipc/parse-frame.js';
import type { ToSupervisor } from '../shared/ipc/to-supervisor.js';
import { type ToWorker, toWorker } from '../shared/ipc/to-worker.js';
import { IPC_VERSION } from '../shared/ipc/version.js';
import type { EndReason } from '../shared/outcome.js';

export type Reply = Extract<ToWorker, { id: number }>;

export interface ControlListener {
  prepare(frame: Extract<ToWorker, { type: 'prepare' }>): void;
  turn(frame: Extract<ToWorker, { type: 'turn' }>): void;
  search(frame: Extract<ToWorker, { type: 'search' }>): void;
  /** Said `ready`; the supervisor has something else to do for now. */
  idle(): void;
  /** A cancel, whether or not a turn runs. */
  cancel(reason: EndReason): void;
  /** The supervisor is gone: nobody will ever read or answer again. */
  lost(): void;
  /** The wire is broken; the worker cannot go on. */
  fault(message: string): void;
}

export class Control {
  readonly #down: Socket;
  readonly #up: Socket;
  readonly #listener: ControlListener;
  readonly #reader = new FrameReader();
  readonly #waiting = new Map<number, (reply: Reply | null) => void>();
  #greeted = false;
  #closed = false;
  #bundling = false;

  constructor(down: Socket, up: Socket, listener: ControlListener) {
    this.#down = down;
    this.#up = up;
    this.#listener = listener;
    down.on('error', () => this.#lose());
    down.on('end', () => this.#lose());
    down.on('data', (chunk: Buffer) => this.#read(chunk));
    up.on('error', () => this.#lose());
    this.send({ type: 'hello', version: IPC_VERSION, pid: process.pid });
  }

  /** Sends a frame; why not, when it cannot be put on the wire. A lost supervisor is told by `lost`, not here. */
  send(frame: ToSupervisor): string | null {
    const encoded = encodeFrame(frame);
    if (!encoded.ok) return encoded.message;
    if (this.#closed) return null;
    // What an answer brought and what it asks for; everything else is waited for, and goes at once.
    if (frame.type === 'progress' || frame.type === 'tool_request') this.#bundle();
    this.#up.write(encoded.bytes);
    return null;
  }

  /** Frames of one turn of the loop leave together, so that the supervisor can record them together. */
  #bundle(): void {
    if (this.#bundling) return;
    this.#bundling = true;
    this.#up.cork();
    setImmediate(() => {
      this.#bundling = false;
      this.#up.uncork();
    });
  }

  /** The next frame with this id; null when the supervisor is gone. */
  reply(id: number): Promise<Reply | null> {
    if (this.#closed) return Promise.resolve(null);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** True while the supervisor reads more slowly than this side writes. */
  get congested(): boolean {
    return this.#up.writableNeedDrain;
  }

  /** Sends the last frame and calls back when it has left this process. A socket that is then dropped keeps what it took. */
  finish(frame: ToSupervisor, left: () => void): void {
    let encoded = encodeFrame(frame);
    // A word that does not fit must not turn into silence.
    if (!encoded.ok)
      encoded = encodeFrame({ type: 'failed', code: 'internal_error', message: encoded.message });
    const closed = this.#closed;
    this.#closed = true;
    if (closed || !encoded.ok) left();
    else this.#up.write(encoded.bytes, left);
    this.#up.uncork();
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    this.#reader.push(chunk);
    for (let read = this.#reader.read(); read.kind !== 'more'; read = this.#reader.read()) {
      const parsed =
        read.kind === 'broken'
          ? { ok: false as const, message: read.message }
          : parseFrame(toWorker, read.value);
      if (!parsed.ok) {
        this.#listener.fault(parsed.message);
        return;
      }
      this.#take(parsed.frame);
      if (this.#closed) return;
    }
  }

  #take(frame: ToWorker): void {
    if (!this.#greeted) this.#greet(frame);
    else if (frame.type === 'ping') this.send({ type: 'pong', seq: frame.seq });
    else if (frame.type === 'cancel') this.#listener.cancel(frame.reason);
    else if (frame.type === 'prepare') this.#listener.prepare(frame);
    else if (frame.type === 'turn') this.#listener.turn(frame);
    else if (frame.type === 'search') this.#listener.search(frame);
    else if (frame.type === 'hello') this.#listener.fault('A second hello came');
    else this.#answer(frame);
  }

  #greet(frame: ToWorker): void {
    if (frame.type !== 'hello') this.#listener.fault(`A ${frame.type} frame came before the hello`);
    else if (frame.version !== IPC_VERSION)
      this.#listener.fault(
        `The supervisor speaks version ${frame.version}, this worker version ${IPC_VERSION}`,
      );
    else {
      this.#greeted = true;
      this.send({ type: 'ready' });
      this.#listener.idle();
    }
  }

  #answer(reply: Reply): void {
    const resolve = this.#waiting.get(reply.id);
    if (resolve === undefined) {
      this.#listener.fault(`A ${reply.type} frame answers nothing that was asked`);
      return;
    }
    this.#waiting.delete(reply.id);
    resolve(reply);
  }

  #lose(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#down.destroy();
    this.#up.destroy();
    for (const resolve of this.#waiting.values()) resolve(null);
    this.#waiting.clear();
    this.#listener.lost();
  }
}
