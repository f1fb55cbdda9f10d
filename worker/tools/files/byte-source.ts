// Bytes that can be read from anywhere: an open file, or what was taken from one into memory.
import type { FileHandle } from 'node:fs/promises';
import { type OpenFile, readRange } from './regular-file.js';
import type { TextFormat } from './text-codec.js';

export interface ByteSource {
  readonly bytes: number;
  /** Fewer than `length` only at the end. */
  read(position: number, length: number): Promise<Buffer>;
}

export interface TextSource {
  readonly source: ByteSource;
  readonly format: TextFormat;
  /** Where the text begins, after a byte order mark. */
  readonly start: number;
  /** Offsets of the source are offsets of the file. */
  readonly trueOffsets: boolean;
  /** Bytes as JSON that the content may take. */
  readonly room: number;
}

export function fileSource(handle: FileHandle, bytes: number): ByteSource {
  return { bytes, read: (position, length) => readRange(handle, position, length) };
}

export function memorySource(bytes: Buffer): ByteSource {
  return {
    bytes: bytes.length,
    read: (position, length) => Promise.resolve(bytes.subarray(position, position + length)),
  };
}

/** The beginning of a file without a true size, read in one go as kernel files want it; `most` bytes at most. */
export async function readKernelFile({ handle }: OpenFile, most: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let left = most;
  while (left > 0) {
    const buffer = Buffer.allocUnsafe(Math.min(left, 64 * 1024));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) break;
    parts.push(buffer.subarray(0, bytesRead));
    left -= bytesRead;
  }
  return Buffer.concat(parts);
}
