// One connection as we want it, always. What a connection must never do differently is set here and nowhere else.
import { strict as assert } from 'node:assert';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';

export type Db = Database.Database;

/** How long a statement waits for a lock that somebody else holds on the file before it fails as busy. */
const BUSY_TIMEOUT_MS = 15_000;

/** The value of `synchronous` that syncs the log at each commit. */
const FULL = 2;

export interface ConnectOptions {
  readonly readonly?: boolean;
  readonly busyTimeoutMs?: number;
}

let binding: string | null | undefined;

/** The compiled library, found without the search through a dozen folders that the package does by itself (8 ms). */
function nativeBinding(): string | null {
  if (binding === undefined) {
    const require = createRequire(import.meta.url);
    const home = dirname(require.resolve('better-sqlite3/package.json'));
    const file = join(home, 'build', 'Release', 'better_sqlite3.node');
    binding = existsSync(file) ? file : null;
  }
  return binding;
}

/** Opens a bare connection: no setting of the file is read or changed yet. Throws what SQLite says. */
export function connect(file: string, options: ConnectOptions = {}): Db {
  const native = nativeBinding();
  return new Database(file, {
    readonly: options.readonly ?? false,
    fileMustExist: true,
    timeout: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    ...(native === null ? {} : { nativeBinding: native }),
  });
}

/**
 * Sets what this process relies on. `synchronous` is a property of the connection, and a reopened WAL database comes
 * up with a weaker one than a new one, so it is set each time: what was accepted must survive a loss of power.
 */
export function configure(db: Db): void {
  db.exec(`
    PRAGMA trusted_schema = OFF;
    PRAGMA foreign_keys = ON;
    PRAGMA cell_size_check = ON;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA journal_size_limit = 67108864;
  `);
  assert.equal(db.pragma('synchronous', { simple: true }), FULL, 'commits would not survive a loss of power');
  assert.equal(db.pragma('journal_mode', { simple: true }), 'wal', 'readers would block the writer');
}

/** The result code of a SQLite error, such as SQLITE_BUSY; undefined for anything else. */
export function sqliteCode(error: unknown): string | undefined {
  return error instanceof Database.SqliteError ? error.code : undefined;
}
