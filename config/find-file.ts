// Which file is the configuration, and its text. A file that was named must be there; one that was not may be absent,
// but if it is there and cannot be read that is told, never passed over.
import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Problem } from './problem.js';

/** A configuration is a page or two; more is a wrong file. */
const FILE_BYTES_MAX = 1024 * 1024;

const NOT_OURS =
  'belongs to another user, or others may write it: name it with --config or TURND_CONFIG if it is meant';

export type FoundFile =
  | { readonly ok: true; readonly file: string; readonly text: string }
  | { readonly ok: true; readonly file: null }
  | { readonly ok: false; readonly problem: Problem };

export function findFile(named: string | undefined, env: NodeJS.ProcessEnv, cwd: string): FoundFile {
  const explicit = named ?? (env.TURND_CONFIG === '' ? undefined : env.TURND_CONFIG);
  const candidates = explicit === undefined ? ['turnd.yaml', '/etc/turnd/turnd.yaml'] : [explicit];
  for (const candidate of candidates) {
    const found = readText(resolve(cwd, candidate), explicit !== undefined);
    if (found !== undefined) return found;
  }
  return { ok: true, file: null };
}

function readText(file: string, mustExist: boolean): FoundFile | undefined {
  const refuse = (message: string): FoundFile => ({ ok: false, problem: { file, path: '', message } });
  let bytes: Buffer | undefined;
  try {
    // Asked first because most starts have no file, and an exception costs more than the rest of the search.
    if (!mustExist) {
      const stat = statSync(file, { throwIfNoEntry: false });
      if (stat === undefined) return undefined;
      if (!isOurs(stat)) return refuse(NOT_OURS);
      // Only who names a pipe is ready to write to it.
      if (!stat.isFile()) return refuse('is not a regular file');
    }
    bytes = readBounded(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return refuse(code === 'ENOENT' ? 'there is no such file' : `cannot be read: ${code}`);
  }
  if (bytes === undefined) return refuse('is larger than 1 MB: is it the right file?');
  try {
    return { ok: true, file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return refuse('is not UTF-8 text');
  }
}

/** A file that was only found decides where messages and tokens go, so it must be one that nobody else could write. */
function isOurs(stat: Stats): boolean {
  const owners = [0, process.geteuid?.()];
  return owners.includes(stat.uid) && (stat.mode & 0o002) === 0;
}

/** Works for pipes too, so that `--config <(generate)` does. */
function readBounded(file: string): Buffer | undefined {
  const descriptor = openSync(file, 'r');
  try {
    if (fstatSync(descriptor).isDirectory()) throw Object.assign(new Error('directory'), { code: 'EISDIR' });
    const buffer = Buffer.alloc(FILE_BYTES_MAX + 1);
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, buffer, length, buffer.length - length, null);
      length += count;
      if (count === 0) return buffer.subarray(0, length);
      if (length > FILE_BYTES_MAX) return undefined;
    }
  } finally {
    closeSync(descriptor);
  }
}
