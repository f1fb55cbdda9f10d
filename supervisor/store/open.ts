// Opens the store of a state directory, for its one owner. Every way in which that can fail is a value with a remedy in
// its text; what is damaged is moved aside and read as far as it goes, and nobody ever starts on an empty state unaware.
import { statSync } from 'node:fs';
import { createDatabase } from './create.js';
import { type FileJudgement, isDamage, judgeContent, judgeFiles } from './damage.js';
import { configure, connect, type Db, sqliteCode } from './database.js';
import { acquireLock } from './lock.js';
import { knownVersion, loadMigrations, type Migration, migrate } from './migrate.js';
import { assembleReader, type Reader } from './reader.js';
import { type Salvaged, salvage } from './salvage.js';
import {
  exists,
  makePrivateFile,
  markRunning,
  prepareDirectory,
  removeFile,
  type StatePaths,
  statePaths,
} from './state-dir.js';
import { assembleStore } from './store.js';
import type { OpenFailure, OpenOptions, Store } from './types.js';

export type OpenOutcome =
  | {
      readonly ok: true;
      readonly store: Store;
      /** What an operator must hear although the store opened: what was damaged, and what was saved. */
      readonly notice: string | null;
    }
  | { readonly ok: false; readonly failure: OpenFailure };

export type ReaderOutcome =
  | { readonly ok: true; readonly reader: Reader }
  | { readonly ok: false; readonly failure: OpenFailure };

export function openStore(options: OpenOptions): OpenOutcome {
  const paths = statePaths(options.dir);
  try {
    const refusal = prepareDirectory(paths);
    if (refusal !== null) return refuse('unusable', refusal);
    const lock = acquireLock(paths);
    if (!lock.ok) {
      const holder = lock.holder === null ? 'another process' : `process ${lock.holder}`;
      return refuse('in_use', `the state directory ${paths.dir} is in use by ${holder}`);
    }
    let opened: OpenOutcome | undefined;
    try {
      opened = openOwned(paths, options, lock.release);
    } finally {
      if (opened?.ok !== true) lock.release();
    }
    return opened;
  } catch (error) {
    const failure = environmentFailure(paths, error);
    if (failure === null) throw error;
    return { ok: false, failure };
  }
}

/** The read side of a store, without the lock: beside its owner, or after its owner died. Changes no byte of it. */
export function openReader(dir: string): ReaderOutcome {
  const paths = statePaths(dir);
  try {
    const known = knownVersion(loadMigrations());
    const judged = judgeFiles(paths, known, false);
    if (judged.kind === 'fresh') return refuse('unusable', `there is no store in ${paths.dir}`);
    if (judged.kind === 'newer') return refuse('newer', newerText(paths, judged.version, known));
    if (judged.kind === 'damaged')
      return refuse('damaged', `the database ${paths.database} is damaged: ${judged.what}`);
    const db = connect(paths.database, { readonly: true });
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version === known) return { ok: true, reader: assembleReader(db, paths) };
    db.close();
    if (version > known) return refuse('newer', newerText(paths, version, known));
    return refuse(
      'unusable',
      `${paths.database} is of an older version; the next run on it brings it up to date`,
    );
  } catch (error) {
    const failure = contentFailure(paths, error) ?? environmentFailure(paths, error);
    if (failure === null) throw error;
    return { ok: false, failure };
  }
}

function openOwned(paths: StatePaths, options: OpenOptions, releaseLock: () => void): OpenOutcome {
  const migrations = loadMigrations();
  const known = knownVersion(migrations);
  const unclean = exists(paths.running);
  const uncleanSinceMs = unclean ? lastWriteMs(paths) : null;
  let notice: string | null = null;
  const judged = judge(paths, known, unclean);
  if (judged.kind === 'newer') return refuse('newer', newerText(paths, judged.version, known));
  if (judged.kind === 'damaged') {
    const salvaged = salvage(paths, migrations, options.nowMs, judged.what);
    notice = describeSalvage(paths, judged.what, salvaged);
    removeFile(paths.running);
    if (options.on_damage === 'stop')
      return refuse('damaged', `${notice}. The next start goes on with what was saved`);
  }
  if (judged.kind === 'fresh') createDatabase(paths, migrations, options.nowMs);
  const db = openSound(paths, migrations, options.nowMs);
  markRunning(paths);
  const store = assembleStore({ db, paths, uncleanSinceMs, releaseLock });
  return { ok: true, store, notice };
}

function judge(paths: StatePaths, known: number, unclean: boolean): FileJudgement {
  const files = judgeFiles(paths, known, unclean);
  if (files.kind !== 'sound') return files;
  for (const path of [paths.database, paths.wal, paths.shm]) if (exists(path)) makePrivateFile(path);
  return judgeContent(paths, known, unclean);
}

function openSound(paths: StatePaths, migrations: readonly Migration[], nowMs: number): Db {
  const db = connect(paths.database);
  try {
    configure(db);
    migrate(db, migrations, nowMs);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function describeSalvage(paths: StatePaths, what: string, salvaged: Salvaged): string {
  const { folder, saved, lost, uncertain } = salvaged;
  const moved = folder === null ? '' : ` It was moved to ${folder}.`;
  const known = uncertain ? (lost > 0 ? `at least ${lost}` : 'an unknown number') : String(lost);
  return `the database ${paths.database} is damaged: ${what}.${moved} ${saved} rows were saved, ${known} lost`;
}

function lastWriteMs(paths: StatePaths): number {
  const times = [paths.database, paths.wal, paths.running]
    .filter(exists)
    .map((path) => statSync(path).mtimeMs);
  return Math.trunc(Math.max(...times));
}

/** What the machine, not the content, keeps us from: permissions, a full or read-only disk, a file that others hold. */
function environmentFailure(paths: StatePaths, error: unknown): OpenFailure | null {
  const code = sqliteCode(error) ?? systemCode(error);
  if (code === undefined) return null;
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    const message = `another program holds ${paths.database} locked; try again when it is done`;
    return { kind: 'in_use', message };
  }
  const said = error instanceof Error ? error.message : code;
  return {
    kind: 'unusable',
    message: `the state directory ${paths.dir} cannot be used (${said}); make it writable for this user, or name another one with --state-dir`,
  };
}

function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}

function contentFailure(paths: StatePaths, error: unknown): OpenFailure | null {
  if (!isDamage(error)) return null;
  return {
    kind: 'damaged',
    message: `the database ${paths.database} is damaged: ${(error as Error).message}`,
  };
}

function newerText(paths: StatePaths, version: number, known: number): string {
  return (
    `${paths.database} was written by a newer version (its tables are at ${version}, known is ${known}); ` +
    'nothing was changed. Install that version, or name another state directory'
  );
}

function refuse(
  kind: OpenFailure['kind'],
  message: string,
): { readonly ok: false; readonly failure: OpenFailure } {
  return { ok: false, failure: { kind, message } };
}
