// Keeps a body as it comes: in memory while it is small, in a file of the turn beyond that.
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';

export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
}

/** What is kept in memory, for looking at it as text. */
export const KEPT_BYTES_MAX = 8 * 1024 * 1024;

export class BodyStore {
  readonly #path: string;
  readonly #fileBytesMax: number;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #file: FileHandle | null = null;
  #written = 0;
  #broken = false;

  constructor(path: string, fileBytesMax: number) {
    this.#path = path;
    this.#fileBytesMax = fileBytesMax;
  }

  /** The beginning, all of it when no more came than is kept. */
  get head(): Buffer {
    return Buffer.concat(this.#kept);
  }

  async push(chunk: Buffer): Promise<void> {
    const room = KEPT_BYTES_MAX - this.#keptBytes;
    if (chunk.length > room) await this.#write(this.#file === null ? this.head : Buffer.alloc(0));
    if (room > 0) {
      const part = Buffer.from(chunk.subarray(0, room));
      this.#kept.push(part);
      this.#keptBytes += part.length;
    }
    if (chunk.length > room) await this.#write(chunk);
  }

  /** The whole in a file, as far as it may grow; null when the disk refuses. */
  async toFile(): Promise<StoredFile | null> {
    if (this.#file === null) await this.#write(this.head);
    await this.#close();
    return this.#broken ? null : { path: this.#path, bytes: this.#written };
  }

  /** Removes the file, where there is one. */
  async discard(): Promise<void> {
    if (this.#file === null) return;
    await this.#close();
    await unlink(this.#path).catch(() => undefined);
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#broken) return;
    try {
      this.#file ??= await createPrivate(this.#path);
      const part = bytes.subarray(0, Math.max(0, this.#fileBytesMax - this.#written));
      if (part.length === 0) return;
      await this.#file.appendFile(part);
      this.#written += part.length;
    } catch {
      // A full disk costs the artifact, not the answer.
      this.#broken = true;
    }
  }

  async #close(): Promise<void> {
    await this.#file?.close().catch(() => undefined);
  }
}

function createPrivate(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
}

/** A text as a private file of its own; null when the disk refuses. */
export async function storeText(path: string, text: string, bytesMax: number): Promise<StoredFile | null> {
  try {
    const handle = await createPrivate(path);
    try {
      const bytes = Buffer.from(text).subarray(0, bytesMax);
      await handle.writeFile(bytes);
      return { path, bytes: bytes.length };
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}
