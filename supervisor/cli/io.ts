// What a command may touch of its process: streams, environment, working folder, signals. Tests hand in their own.
import type { Readable, Writable } from 'node:stream';
import { TurndError } from '../../shared/errors.js';

export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export function processIo(): Io {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    get cwd() {
      return currentFolder();
    },
  };
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new TurndError('usage', 'the current folder does not exist any more; go to another one');
  }
}

/** Writes and waits until the other end has it. A reader that went away is not an error of ours. */
export function writeAll(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve();
    else stream.write(text, () => resolve());
  });
}
