// Makes a new database out of what can still be read of a damaged one: table by table, row by row, around bad pages.
import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { copyForWork, moveAside, report } from './aside.js';
import { createDatabase } from './create.js';
import { isDamage } from './damage.js';
import { connect, type Db } from './database.js';
import { mendReferences } from './mend.js';
import type { Migration } from './migrate.js';
import { copyTable, type TableCount } from './salvage-table.js';
import { removeFile, type StatePaths } from './state-dir.js';

export interface Salvaged {
  readonly saved: number;
  /** Rows that are known to be lost; more may be, where not even their number can be read. */
  readonly lost: number;
  readonly uncertain: boolean;
  /** Where the damaged files are now; null when there were none. */
  readonly folder: string | null;
}

/** Parents before children. */
const TABLES = [
  'workspaces',
  'threads',
  'turns',
  'inbox',
  'turn_events',
  'tool_calls',
  'usage',
  'spending',
  'reservations',
  'artifacts',
  'memory',
  'plans',
  'waits',
  'summaries',
  'calibrations',
] as const;

/** Moves the damaged database aside and puts a sound one in its place. Throws when the disk does not let it. */
export function salvage(
  paths: StatePaths,
  migrations: readonly Migration[],
  nowMs: number,
  what: string,
): Salvaged {
  const folder = moveAside(paths, nowMs);
  const work = `${paths.database}.salvage`;
  const leftovers = [work, `${work}-wal`, `${work}-shm`];
  const sweep = (): void => {
    for (const file of leftovers) removeFile(file);
  };
  sweep();
  const readable = folder !== null && copyForWork(folder, paths, work);
  let counts: TableCount[] = [];
  createDatabase(paths, migrations, nowMs, (target) => {
    if (readable) counts = copyAll(work, target, nowMs);
  });
  sweep();
  const saved = counts.reduce((sum, count) => sum + count.saved, 0);
  const lost = counts.reduce((sum, count) => sum + (count.lost ?? 0), 0);
  const uncertain = counts.length === 0 || counts.some((count) => count.lost === null);
  const lines = counts.map(({ table, saved, lost }) => `${table}: ${saved} saved, ${lost ?? 'unknown'} lost`);
  if (folder !== null) report(folder, [`Damage: ${what}.`, ...lines].join('\n'));
  return { saved, lost, uncertain, folder };
}

function copyAll(work: string, target: Db, nowMs: number): TableCount[] {
  mendHeader(work);
  let source: Db | undefined;
  try {
    source = connect(work);
    source.pragma('journal_mode');
    const from = source;
    target.pragma('foreign_keys = OFF');
    const copy = target.transaction(() => {
      const counts = TABLES.map((table) => copyTable(from, target, table));
      mendReferences(target, nowMs);
      return counts;
    });
    return copy();
  } catch (error) {
    // Not one page makes sense: there is nothing to read. Anything else is about the new file.
    if (!isDamage(error)) throw error;
    return [];
  } finally {
    source?.close();
  }
}

const PAGE_BYTES = 4096;
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');

/** Gives the copy a header that fits its length. An overwritten one is written anew: all our databases have the same. */
function mendHeader(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    const header = Buffer.alloc(100);
    const got = readSync(descriptor, header, 0, header.length, 0);
    const intact = got === header.length && header.subarray(0, MAGIC.length).equals(MAGIC);
    if (!intact) writeFreshHeader(header);
    header.writeUInt32BE(Math.max(1, Math.floor(statSync(file).size / PAGE_BYTES)), 28);
    // The page count is believed only where these two agree.
    header.copy(header, 92, 24, 28);
    writeSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
}

/** Offsets of the file format: page size, WAL for reading and writing, payload fractions, schema format, encoding. */
function writeFreshHeader(header: Buffer): void {
  header.fill(0);
  MAGIC.copy(header);
  header.writeUInt16BE(PAGE_BYTES, 16);
  header.set([2, 2, 0, 64, 32, 32], 18);
  header.writeUInt32BE(1, 24);
  header.writeUInt32BE(1, 40);
  header.writeUInt32BE(4, 44);
  header.writeUInt32BE(1, 56);
}
