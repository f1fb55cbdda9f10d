// Judges a database before anything is written to it: sound, damaged (and how), or made by a newer version.
// Looks at the bytes first, because opening a broken file may already change it.
import { closeSync, lstatSync, openSync, readSync } from 'node:fs';
import { connect, type Db, sqliteCode } from './database.js';
import { exists, type StatePaths, sizeOf } from './state-dir.js';

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const USER_VERSION_AT = 60;

/** Up to this size the whole file is read at each start; beyond it only after an end that was not clean. */
const CHECK_ALWAYS_BYTES = 64 * 1024 * 1024;

export type FileJudgement =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'sound' }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'damaged'; readonly what: string };

const sound: FileJudgement = { kind: 'sound' };

/** What can be said without SQLite. `unclean`: the last owner did not close. */
export function judgeFiles(paths: StatePaths, known: number, unclean: boolean): FileJudgement {
  const made = exists(paths.format);
  const status = lstatSync(paths.database, { throwIfNoEntry: false });
  if (status === undefined) {
    if (made) return { kind: 'damaged', what: 'the database file is missing' };
    return exists(paths.wal)
      ? { kind: 'damaged', what: 'only its write-ahead log is left' }
      : { kind: 'fresh' };
  }
  if (!status.isFile()) return { kind: 'damaged', what: 'it is not a file' };
  if (status.size === 0) return made ? { kind: 'damaged', what: 'it is empty (0 bytes)' } : { kind: 'fresh' };
  const header = readHeader(paths.database);
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC)
    return { kind: 'damaged', what: 'its header is overwritten' };
  const version = header.readInt32BE(USER_VERSION_AT);
  if (version > known) return { kind: 'newer', version };
  if (unclean && !exists(paths.wal))
    return {
      kind: 'damaged',
      what: 'it was not closed cleanly and its write-ahead log is gone, so its last changes may be missing',
    };
  return sound;
}

/** Reads the whole content without changing a byte of it. Throws what is not about the content, such as a busy file. */
export function judgeContent(paths: StatePaths, known: number, unclean: boolean): FileJudgement {
  let db: Db | undefined;
  try {
    db = connect(paths.database, { readonly: true });
    // The write-ahead log may be ahead of the file that was looked at.
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version > known) return { kind: 'newer', version };
    const what = unclean || sizeOf(paths.database) <= CHECK_ALWAYS_BYTES ? findDamage(db) : null;
    return what === null ? sound : { kind: 'damaged', what };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { kind: 'damaged', what: oneLine(String(error)) };
  } finally {
    db?.close();
  }
}

function findDamage(db: Db): string | null {
  const verdict = String(db.pragma('quick_check(1)', { simple: true }));
  if (verdict !== 'ok') return oneLine(verdict);
  // The last page of a long value has no structure to check; its text has.
  const broken = db.prepare(
    'SELECT count(*) FROM turn_events WHERE octet_length(payload) > 3000 AND NOT json_valid(payload)',
  );
  const count = Number(broken.pluck().get());
  return count === 0 ? null : `${count} journal entries are not readable`;
}

/** True when an error means that the content is broken, rather than that the file cannot be reached. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && /^SQLITE_(CORRUPT|NOTADB|FORMAT|ERROR)/.test(code);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
}

function readHeader(path: string): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(descriptor, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}
