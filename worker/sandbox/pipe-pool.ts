// Real pipes for commands. The host's own stdio pipes are sockets, on which `echo x > /dev/stderr` and
// `cat /dev/stdin` fail; and one pipe for stdout and stderr keeps the order in which things were printed.
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

export interface Pipe {
  readonly read: number;
  readonly write: number;
}

/** Starting `mkfifo` costs as much as a small command, so a few are made at once. */
const BATCH = 4;
let made = 0;
/** Descriptors of pipes that have no name any more and that nobody uses yet. */
const spare: number[] = [];
let making: Promise<void> | null = null;

function adopt(path: string): void {
  try {
    spare.push(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    unlinkSync(path);
  } catch {
    // The folder went away; the caller finds no spare and does without.
  }
}

function makeBatch(folder: string, searchPath: string): Promise<void> {
  const paths = Array.from({ length: BATCH }, () => join(folder, `.pipe-${process.pid}-${made++}`));
  return new Promise((resolve) => {
    execFile('mkfifo', ['-m', '600', ...paths], { env: { PATH: searchPath } }, (error) => {
      if (error === null) paths.forEach(adopt);
      making = null;
      resolve();
    });
  });
}

/** The end that a child gets must block, as programs expect; ours must not. */
function openEnds(holder: number, child: 'writes' | 'reads'): Pipe {
  const path = `/proc/self/fd/${holder}`;
  const read = openSync(path, constants.O_RDONLY | (child === 'writes' ? constants.O_NONBLOCK : 0));
  const write = openSync(path, constants.O_WRONLY | (child === 'reads' ? constants.O_NONBLOCK : 0));
  return { read, write };
}

/** A nameless pipe, both ends open in this process; null where named pipes cannot be made in `folder`. */
export async function takePipe(
  folder: string,
  searchPath: string,
  child: 'writes' | 'reads',
): Promise<Pipe | null> {
  if (spare.length === 0) {
    making ??= makeBatch(folder, searchPath);
    await making;
  }
  const holder = spare.pop();
  if (holder === undefined) return null;
  try {
    return openEnds(holder, child);
  } catch {
    return null;
  } finally {
    closeSync(holder);
  }
}
