// Statements prepared at their first use and kept: opening stays quick, and each statement is compiled once.
import { strict as assert } from 'node:assert';
import type { RunResult, Statement } from 'better-sqlite3';
import type { Db } from './database.js';

export type Bind = string | number | bigint | null | Uint8Array;

export interface Reading<Row> {
  get(...binds: Bind[]): Row | undefined;
  all(...binds: Bind[]): Row[];
}

export function reading<Row>(db: Db, sql: string): Reading<Row> {
  let statement: Statement<Bind[], Row> | undefined;
  const prepared = () => {
    statement ??= db.prepare<Bind[], Row>(sql);
    return statement;
  };
  return { get: (...binds) => prepared().get(...binds), all: (...binds) => prepared().all(...binds) };
}

/** A statement that changes rows; runs inside a transaction of ours or not at all. */
export function writing(db: Db, sql: string): (...binds: Bind[]) => RunResult {
  let statement: Statement<Bind[]> | undefined;
  return (...binds) => {
    assert(db.inTransaction, 'a write outside of transact');
    statement ??= db.prepare<Bind[]>(sql);
    return statement.run(...binds);
  };
}
