// The worker's end of a command's output pipe. Reads into one buffer that is used again and again.
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** Standard output and error of a command, in the order of arrival. Nothing flows before `read`. */
export interface CommandOutput {
  /** `onChunk` gets each chunk, valid only during the call; false stops the flow until `resume`. `onEnd` comes once. */
  read(onChunk: (chunk: Buffer) => boolean, onEnd: () => void): void;
  resume(): void;
  destroy(): void;
}

const READ_BYTES = 64 * 1024;

/** Over a pipe of our own (pipe-pool.ts). Owns the descriptor from here on. */
export function pipeOutput(descriptor: number): CommandOutput {
  let socket: Socket | null = null;
  return {
    read: (onChunk, onEnd) => {
      const buffer = Buffer.allocUnsafe(READ_BYTES);
      // One buffer for all reads: endless output must not make endless garbage.
      const onread = { buffer, callback: (bytes: number): boolean => onChunk(buffer.subarray(0, bytes)) };
      // In a variable of its own because the types do not know that this constructor takes `onread`.
      const options = { fd: descriptor, readable: true, writable: false, onread };
      socket = new Socket(options);
      socket.on('error', () => undefined).once('close', onEnd);
      socket.resume();
    },
    resume: () => socket?.resume(),
    destroy: () => (socket === null ? closeSync(descriptor) : socket.destroy()),
  };
}

/** Over a pipe that the host made. */
export function streamOutput(stream: Readable): CommandOutput {
  return {
    read: (onChunk, onEnd) => {
      stream.on('data', (chunk: Buffer) => {
        if (!onChunk(chunk)) stream.pause();
      });
      stream.on('error', () => undefined).once('close', onEnd);
    },
    resume: () => stream.resume(),
    destroy: () => stream.destroy(),
  };
}
