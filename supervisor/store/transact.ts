// The one way to change durable state. A crash test may stop us on either side of the commit.
import { strict as assert } from 'node:assert';
import type { Statement } from 'better-sqlite3';
import { TurndError } from '../../shared/errors.js';
import { type KillPoint, killPoint } from '../kill-point.js';
import type { Db } from './database.js';
import { sqliteCode } from './database.js';
import { TRANSACTIONS, type TransactionName } from './types.js';

interface Points {
  readonly before: KillPoint;
  readonly after: KillPoint;
}

const POINTS = new Map<TransactionName, Points>(
  TRANSACTIONS.map((name) => [name, { before: `before-commit:${name}`, after: `after-commit:${name}` }]),
);

export type Transact = <T>(name: TransactionName, body: () => T) => T;

export function transactOf(db: Db): Transact {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  return (name, body) => {
    const points = POINTS.get(name);
    assert(points !== undefined, `no transaction ${name}`);
    assert(!db.inTransaction, `transaction ${name} inside another one`);
    beginOrTell(begin);
    let value: ReturnType<typeof body>;
    try {
      value = body();
      assert(!isThenable(value), `the body of ${name} must be synchronous`);
      killPoint(points.before);
      commit.run();
    } catch (error) {
      // Some failures (a full disk) have rolled back already.
      if (db.inTransaction) rollback.run();
      throw unwritable(error);
    }
    killPoint(points.after);
    return value;
  };
}

/** Our own lock keeps other owners out, but not a person with a database tool. Nothing was written: try again later. */
function beginOrTell(begin: Statement): void {
  try {
    begin.run();
  } catch (error) {
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY') !== true) throw error;
    const message = 'another program holds the database locked; try again when it is done';
    throw new TurndError('state_in_use', message, { cause: error });
  }
}

/** A disk that takes nothing is no bug of ours, and whoever is told of it can help. */
function unwritable(error: unknown): unknown {
  if (!/^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN)/.test(sqliteCode(error) ?? '')) return error;
  const said = error instanceof Error ? error.message : '';
  return new TurndError('internal_error', `the state cannot be written (${said})`, { cause: error });
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
