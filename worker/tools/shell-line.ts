// A shell line as an argument list. No login shell: profiles take time and change what runs.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../sandbox/find-program.js';

/** The kernel takes at most 128 KiB in one argument. */
const ARGUMENT_BYTES_MAX = 120 * 1024;
let scripts = 0;

/** bash where there is one, else sh; a line too long for an argument goes through a file in `spoolDir`. */
export async function shellLine(line: string, searchPath: string, spoolDir: string): Promise<string[]> {
  const shell = findProgram('bash', searchPath) ?? findProgram('sh', searchPath) ?? '/bin/sh';
  if (Buffer.byteLength(line) <= ARGUMENT_BYTES_MAX) return [shell, '-c', line];
  scripts += 1;
  const path = join(spoolDir, `command-${process.pid}-${scripts}.sh`);
  await writeFile(path, line, { mode: 0o600, flag: 'wx' });
  return [shell, path];
}
