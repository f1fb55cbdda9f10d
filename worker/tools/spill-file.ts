// The whole output of one command on disk, up to a cap; beyond it bytes are only counted. Written in the background:
// a slow disk holds the command back and never this process.
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { unlink } from 'node:fs/promises';

export class SpillFile {
  readonly path: string;
  readonly #capBytes: number;
  readonly #stream: WriteStream;
  #written = 0;
  #lost = 0;
  #broken = false;

  /** `onDrain` comes after a `write` that returned false. */
  constructor(path: string, capBytes: number, onDrain: () => void) {
    this.path = path;
    this.#capBytes = capBytes;
    this.#stream = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: 512 * 1024 });
    this.#stream.on('drain', onDrain);
    this.#stream.on('error', () => {
      // A full disk must not end the command: its output is still shown, only not kept whole.
      this.#broken = true;
      onDrain();
    });
  }

  get bytes(): number {
    return this.#written;
  }

  /** Bytes that are not in the file: above the cap, or after the disk refused. */
  get lostBytes(): number {
    return this.#lost;
  }

  get broken(): boolean {
    return this.#broken;
  }

  /** Copies the chunk. False: hold back until the drain. */
  write(chunk: Uint8Array): boolean {
    const room = this.#broken ? 0 : this.#capBytes - this.#written;
    const part = chunk.subarray(0, Math.max(0, room));
    this.#lost += chunk.length - part.length;
    if (part.length === 0) return true;
    this.#written += part.length;
    return this.#stream.write(Buffer.from(part));
  }

  /** Resolves when the file is complete. */
  async close(): Promise<void> {
    if (this.#broken) return;
    this.#stream.end();
    if (!this.#stream.closed) await once(this.#stream, 'close').catch(() => undefined);
  }

  async discard(): Promise<void> {
    await this.close();
    await unlink(this.path).catch(() => undefined);
  }
}
