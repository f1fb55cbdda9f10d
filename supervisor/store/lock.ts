// One owner for a state directory, kept by the kernel: a file lock that dies with its process, whatever kills it.
// No pid file decides anything; a stale or reused pid cannot keep anybody out. Our own code never opens the lock file
// by other means: closing any descriptor of a file drops the locks that a process holds on it.
import { readFileSync, statSync } from 'node:fs';
import { connect, sqliteCode } from './database.js';
import { exists, makePrivateFile, type StatePaths } from './state-dir.js';

/**
 * Two that start at the same moment can each be in the other's way for an instant, and so can somebody who only asks;
 * a real owner is still there after this.
 */
const CONTEST_MS = 50;

export type LockOutcome =
  | { readonly ok: true; release(): void }
  | { readonly ok: false; readonly holder: number | null };

/** Takes the lock or says at once who has it. Throws when the lock file cannot be used. */
export function acquireLock(paths: StatePaths): LockOutcome {
  makePrivateFile(paths.lock);
  const db = connect(paths.lock, { busyTimeoutMs: CONTEST_MS });
  try {
    // No journal file: nothing is ever written here.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return { ok: true, release: () => void db.close() };
  } catch (error) {
    db.close();
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY') === true)
      return { ok: false, holder: lockHolder(paths.lock) };
    throw error;
  }
}

/** The pid that the kernel names for a lock on this file; null where the kernel does not tell. */
function lockHolder(path: string): number | null {
  try {
    const inode = String(statSync(path).ino);
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const [, , , , pid, device] = line.split(/\s+/);
      if (device?.split(':')[2] === inode && Number(pid) > 0) return Number(pid);
    }
  } catch {
    // No such table here: the refusal stands without a name.
  }
  return null;
}

/** Whether some process owns the directory now. Asks with a lock that conflicts with the owner's and is given back at once. */
export function isOwned(paths: StatePaths): boolean {
  if (!exists(paths.lock)) return false;
  const db = connect(paths.lock, { readonly: true, busyTimeoutMs: 0 });
  try {
    db.exec('BEGIN; SELECT count(*) FROM sqlite_schema; ROLLBACK');
    return false;
  } catch (error) {
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY') === true) return true;
    throw error;
  } finally {
    db.close();
  }
}
