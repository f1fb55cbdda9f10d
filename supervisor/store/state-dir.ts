// The state directory: its names, its modes, and the two marks beside the database. `format` says that a store was made
// here, so that a lost database is never taken for a fresh start; `running` says that its owner has not closed it yet.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const STICKY = 0o1000;
/** What a start that was cut short leaves, and what an otherwise empty directory may come with. */
const FOUND_IN_NEW = new Set([
  'artifacts',
  'spool',
  'lock',
  'running',
  'lost+found',
  '.gitignore',
  '.gitkeep',
]);

export interface StatePaths {
  readonly dir: string;
  readonly database: string;
  readonly wal: string;
  readonly shm: string;
  readonly lock: string;
  readonly format: string;
  readonly running: string;
  readonly artifacts: string;
}

export function statePaths(dir: string): StatePaths {
  const home = resolve(dir);
  const database = join(home, 'turnd.db');
  return {
    dir: home,
    database,
    wal: `${database}-wal`,
    shm: `${database}-shm`,
    lock: join(home, 'lock'),
    format: join(home, 'format'),
    running: join(home, 'running'),
    artifacts: join(home, 'artifacts'),
  };
}

/** Makes the directory ours alone. Throws what the file system says; refuses a place that others share, as a text. */
export function prepareDirectory(paths: StatePaths): string | null {
  makeDirectories(paths.dir);
  const { mode } = statSync(paths.dir);
  if ((mode & STICKY) !== 0) return `${paths.dir} is shared with others; name a directory of its own`;
  if (!isOurs(paths)) return `${paths.dir} holds other files; name an empty or a new directory for the state`;
  if ((mode & 0o777) !== DIRECTORY_MODE) chmodSync(paths.dir, DIRECTORY_MODE);
  for (const name of ['artifacts', 'spool']) makePrivateDirectory(join(paths.dir, name));
  return null;
}

/** Closing somebody's home or a system directory to everybody else would break what lives in it. */
function isOurs(paths: StatePaths): boolean {
  if ([paths.format, paths.database, paths.wal].some(exists)) return true;
  return readdirSync(paths.dir).every((name) => FOUND_IN_NEW.has(name) || name.startsWith('turnd.db'));
}

/**
 * One level after the other. The host's own way of making parents tries for ever where the system answers "no such
 * file" below a folder that is there, as /proc does.
 */
function makeDirectories(path: string): void {
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || exists(parent)) throw error;
    makeDirectories(parent);
    makeDirectories(path);
  }
}

function makePrivateDirectory(path: string): void {
  makeDirectories(path);
  if ((statSync(path).mode & 0o777) !== DIRECTORY_MODE) chmodSync(path, DIRECTORY_MODE);
}

/** An empty file of ours; an existing one keeps its content and gets its mode. No umask has a say. */
export function makePrivateFile(path: string, content = ''): void {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) writeFileSync(path, content, { mode: FILE_MODE, flag: 'wx' });
  else if ((status.mode & 0o777) === FILE_MODE) return;
  chmodSync(path, FILE_MODE);
}

export function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

export function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Removes a file that may not be there. */
export function removeFile(path: string): void {
  if (exists(path)) unlinkSync(path);
}

/** Makes names in a directory, or the content of a file, survive a loss of power. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function markRunning(paths: StatePaths): void {
  removeFile(paths.running);
  makePrivateFile(paths.running, `${process.pid}\n`);
}

/** Former databases that were moved aside, oldest first. */
export function damagedFolders(paths: StatePaths): string[] {
  return readdirSync(paths.dir)
    .filter((name) => name.startsWith('damaged-'))
    .sort()
    .map((name) => join(paths.dir, name));
}
