// Numbered steps from one shape of the tables to the next. Each is one transaction together with the row that says it
// happened. `user_version` is the newest breaking step: code that does not know it must not touch the database.
import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from './database.js';
import { migrationsFolder } from './package-root.js';

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Breaking: older code must refuse a database that has it. */
  readonly breaking: boolean;
  readonly sql: string;
}

const FILE_NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/;
const FIRST_LINE = /^-- (breaking|compatible): \S/;

/** All known steps in order. The numbers must be 1, 2, 3, …, and each first line says what it means for older code. */
export function loadMigrations(folder: string = migrationsFolder()): Migration[] {
  return readdirSync(folder)
    .sort()
    .map((file, index) => {
      const [, number, name] = FILE_NAME.exec(file) ?? [];
      assert(number !== undefined && name !== undefined, `not the name of a migration: ${file}`);
      assert(Number(number) === index + 1, `migration ${index + 1} is missing or doubled: ${file}`);
      const sql = readFileSync(join(folder, file), 'utf8');
      const kind = FIRST_LINE.exec(sql)?.[1];
      assert(kind !== undefined, `${file} must begin with "-- breaking: …" or "-- compatible: …"`);
      return { version: index + 1, name, breaking: kind === 'breaking', sql };
    });
}

/** The newest `user_version` that this code understands. */
export function knownVersion(migrations: readonly Migration[]): number {
  return migrations.reduce((newest, { version, breaking }) => (breaking ? version : newest), 0);
}

/** Brings the tables up to date; several processes may try at once: each step is done by one of them, the others wait. */
export function migrate(db: Db, migrations: readonly Migration[], nowMs: number): void {
  db.exec(`CREATE TABLE IF NOT EXISTS migrations
    (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at_ms INTEGER NOT NULL) STRICT`);
  const done = new Set(db.prepare<[], number>('SELECT version FROM migrations').pluck().all());
  for (const migration of migrations) if (!done.has(migration.version)) apply(db, migration, nowMs);
}

function apply(db: Db, migration: Migration, nowMs: number): void {
  const step = db.transaction(() => {
    // The row comes first: whoever was slower finds it there and has nothing to do.
    const mark = db.prepare('INSERT INTO migrations VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    if (mark.run(migration.version, migration.name, nowMs).changes === 0) return;
    db.exec(migration.sql);
    if (migration.breaking) db.pragma(`user_version = ${migration.version}`);
  });
  step.immediate();
}
