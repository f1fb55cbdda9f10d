// A fresh database, built under another name and renamed into place whole: no start ever sees half of one.
import { renameSync } from 'node:fs';
import { connect, type Db } from './database.js';
import { type Migration, migrate } from './migrate.js';
import { exists, makePrivateFile, removeFile, type StatePaths, syncToDisk } from './state-dir.js';

/** `fill` may put rows into the new tables before the database takes its place. */
export function createDatabase(
  paths: StatePaths,
  migrations: readonly Migration[],
  nowMs: number,
  fill: (db: Db) => void = () => undefined,
): void {
  const draft = `${paths.database}.new`;
  for (const path of [draft, `${draft}-wal`, `${draft}-shm`]) removeFile(path);
  makePrivateFile(draft);
  const db = connect(draft);
  try {
    // Nothing in the draft counts before the rename, so it is made durable once, at its end.
    db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    migrate(db, migrations, nowMs);
    fill(db);
    db.exec('PRAGMA journal_mode = WAL');
  } finally {
    db.close();
  }
  syncToDisk(draft);
  renameSync(draft, paths.database);
  if (!exists(paths.format)) makePrivateFile(paths.format, 'turnd store 1\n');
  syncToDisk(paths.dir);
}
