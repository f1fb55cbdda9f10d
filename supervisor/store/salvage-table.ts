// Copies one table out of a damaged database. Rows are read in order of their key; where a page cannot be read, the
// walk looks for the next key beyond it, by doubling steps and then halving them.
import type { Db } from './database.js';

export interface TableCount {
  readonly table: string;
  readonly saved: number;
  /** Null when the number of rows that were there cannot be read either. */
  readonly lost: number | null;
}

/** Columns that hold JSON; a value that is none is damage that the file format cannot see. */
const JSON_COLUMNS = ['payload', 'arguments', 'plan', 'options', 'subject', 'summary'];
const JSON_OF_TABLE: Readonly<Record<string, string>> = { memory: 'value' };

/** No table of ours grows beyond this key; the search for a readable row ends here. */
const KEY_MAX = 2 ** 48;

type Row = Record<string, unknown> & { readonly seq: number };
type Found = Row | 'end' | 'unreadable';

export function copyTable(source: Db, target: Db, table: string): TableCount {
  const columns = commonColumns(source, target, table);
  if (columns === null || columns.length === 0) return { table, saved: 0, lost: null };
  const list = columns.join(', ');
  const after = finder(source, `SELECT ${list} FROM ${table} WHERE seq > ? ORDER BY seq LIMIT 1`);
  const insert = target.prepare(
    `INSERT INTO ${table} (${list}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`,
  );
  let saved = 0;
  let refused = 0;
  for (const row of walk(after)) {
    if (store(insert, table, row)) saved += 1;
    else refused += 1;
  }
  const expected = countRows(source, table);
  return { table, saved, lost: expected === null ? null : Math.max(refused, expected - saved) };
}

function commonColumns(source: Db, target: Db, table: string): string[] | null {
  const names = (db: Db): string[] =>
    db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);
  try {
    const there = new Set(names(source));
    return names(target).filter((name) => there.has(name));
  } catch {
    return null;
  }
}

function finder(source: Db, sql: string): (key: number) => Found {
  let statement: ReturnType<Db['prepare']>;
  try {
    statement = source.prepare(sql);
  } catch {
    return () => 'unreadable';
  }
  return (key) => {
    try {
      return (statement.get(key) as Row | undefined) ?? 'end';
    } catch {
      return 'unreadable';
    }
  };
}

function* walk(after: (key: number) => Found): Generator<Row> {
  let key = -1;
  for (;;) {
    let found = after(key);
    if (found === 'unreadable') found = beyondGap(after, key);
    if (found === 'end' || found === 'unreadable') return;
    yield found;
    key = found.seq;
  }
}

/** The first row that can be read behind the bad place at `key`. */
function beyondGap(after: (key: number) => Found, key: number): Found {
  let bad = key;
  let good = key;
  let found: Found = 'unreadable';
  for (let step = 1; found === 'unreadable'; step *= 2) {
    if (key + step > KEY_MAX) return 'end';
    bad = good;
    good = key + step;
    found = after(good);
  }
  while (good - bad > 1) {
    const middle = bad + Math.floor((good - bad) / 2);
    const there = after(middle);
    if (there === 'unreadable') bad = middle;
    else {
      good = middle;
      found = there;
    }
  }
  return found;
}

function store(insert: ReturnType<Db['prepare']>, table: string, row: Row): boolean {
  try {
    for (const column of [...JSON_COLUMNS, JSON_OF_TABLE[table] ?? '']) {
      const value = row[column];
      if (value !== undefined) JSON.parse(String(value));
    }
    insert.run(row);
    return true;
  } catch {
    return false;
  }
}

/** The rows that the table had, by whichever of its indexes is whole. */
function countRows(source: Db, table: string): number | null {
  const counts = ['', ...indexNames(source, table).map((name) => `INDEXED BY "${name}"`)].map((how) => {
    try {
      return Number(source.prepare(`SELECT count(*) FROM ${table} ${how}`).pluck().get());
    } catch {
      return null;
    }
  });
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : Math.max(...known);
}

function indexNames(source: Db, table: string): string[] {
  try {
    const indexes = source.prepare<[string], string>(
      'SELECT name FROM pragma_index_list(?) WHERE NOT partial',
    );
    return indexes.pluck().all(table);
  } catch {
    return [];
  }
}
