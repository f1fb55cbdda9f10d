// Typed frames over a worker's two sockets. Writes never block and never pile up past a bound; reads take turns with
// other workers; a broken wire is told once, as a sentence. It knows neither what frames mean nor how a worker ends.
import type { Socket } from 'node:net';
import { encodeFrame, FrameReader } from '../../shared/ipc/codec.js';
import { parseFrame } from '../../shared/ipc/parse-frame.js';
import { type ToSupervisor, toSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';

/** Bytes read from one worker before others get their turn. */
const TURN_BYTES = 256 * 1024;
/** Two of the largest frames. */
export const QUEUE_MAX_BYTES = 32 * 1024 * 1024;

export interface ChannelListener {
  frame(frame: ToSupervisor): void;
  /** The wire is broken: a bad frame, one over the cap, or a worker that does not read. At most once. */
  fault(message: string): void;
  /** Every frame that was sent has been delivered. Once. */
  end(): void;
}

export class Channel {
  readonly #down: Socket;
  readonly #up: Socket;
  readonly #listener: ChannelListener;
  readonly #queueMaxBytes: number;
  readonly #reader = new FrameReader();
  #broken = false;
  #ended = false;
  #turnBytes = 0;

  constructor(down: Socket, up: Socket, listener: ChannelListener, queueMaxBytes = QUEUE_MAX_BYTES) {
    this.#down = down;
    this.#up = up;
    this.#listener = listener;
    this.#queueMaxBytes = queueMaxBytes;
    // A worker may be gone at any write: that is told by its exit, not by an exception.
    down.on('error', () => undefined);
    up.on('error', () => undefined);
    up.on('data', (chunk: Buffer) => this.#read(chunk));
    up.once('end', () => this.#finish());
    up.once('close', () => this.#finish());
  }

  /** Queues a frame; false when nobody will read it. */
  send(frame: ToWorker): boolean {
    if (this.#broken || !this.#down.writable) return false;
    const encoded = encodeFrame(frame);
    if (!encoded.ok) return this.#fault(encoded.message);
    const queued = this.#down.writableLength + encoded.bytes.length;
    if (queued > this.#queueMaxBytes)
      return this.#fault(`The worker does not read: ${queued} bytes are queued`);
    this.#down.write(encoded.bytes);
    return true;
  }

  /** Bytes that wait for the worker to read. */
  get queuedBytes(): number {
    return this.#down.writableLength;
  }

  /** Resolves once the queue is empty, or will never be. */
  drained(): Promise<void> {
    const down = this.#down;
    if (!down.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      down.once('drain', resolve);
      down.once('close', resolve);
    });
  }

  /** Drops both sockets, whoever still holds their other ends. */
  close(): void {
    this.#down.destroy();
    this.#up.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#broken) return;
    this.#reader.push(chunk);
    for (let read = this.#reader.read(); read.kind !== 'more'; read = this.#reader.read()) {
      if (read.kind === 'broken') return void this.#fault(read.message);
      const parsed = parseFrame(toSupervisor, read.value);
      if (!parsed.ok) return void this.#fault(parsed.message);
      this.#listener.frame(parsed.frame);
      if (this.#broken) return;
    }
    this.#turnBytes += chunk.length;
    if (this.#turnBytes < TURN_BYTES) return;
    this.#turnBytes = 0;
    this.#up.pause();
    setImmediate(() => this.#up.resume());
  }

  #fault(message: string): false {
    if (!this.#broken) {
      this.#broken = true;
      this.#listener.fault(message);
    }
    return false;
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#listener.end();
  }
}
