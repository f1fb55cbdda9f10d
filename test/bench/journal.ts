// Durable commits per second through the store, against a bare loop over the same library with the same durability.
// The two take turns in short stretches, so that whatever else the disk does falls on both.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../shared/clock.js';
import type { JournalEvent } from '../../shared/journal.js';
import { configure, connect } from '../../supervisor/store/database.js';
import { mustOpen, seedTurn, THREAD, TURN_ID } from '../fakes/open-store.js';
import type { BenchRow } from './bench-row.js';

const STRETCHES = 16;
const COMMITS = 250;
const LEAST_SHARE = 0.5;

const EVENT: JournalEvent = { kind: 'note', text: 'what a model says in a sentence or three. '.repeat(10) };

export async function journalBench(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'turnd-bench-journal-'));
  const bare = bareLoop(join(dir, 'bare.db'));
  const store = mustOpen(join(dir, 'state'));
  seedTurn(store);
  const append = (): void => {
    store.transact('record_progress', () => store.events.append(TURN_ID, THREAD, EVENT, 1_000));
  };
  try {
    stretch(bare.commit);
    stretch(append);
    let bareMs = 0;
    const each: number[] = [];
    for (let turn = 0; turn < STRETCHES; turn += 1) {
      bareMs += stretch(bare.commit).reduce((sum, ms) => sum + ms, 0);
      each.push(...stretch(append));
    }
    const ours = each.reduce((sum, ms) => sum + ms, 0);
    const total = STRETCHES * COMMITS;
    const value = Math.round((total / ours) * 1_000);
    const baseline = Math.round((total / bareMs) * 1_000);
    const ratio = value / baseline;
    each.sort((left, right) => left - right);
    return [
      {
        name: 'journal: durable commits, against a bare loop',
        unit: 'commits/s',
        value,
        baseline,
        ratio,
        bound: `>= ${LEAST_SHARE}x`,
        ok: ratio >= LEAST_SHARE,
      },
      openRow(dir),
    ];
  } finally {
    bare.close();
    store.close();
    rmSync(dir, { recursive: true });
  }
}

function bareLoop(file: string): { commit(): void; close(): void } {
  writeFileSync(file, '');
  const db = connect(file);
  configure(db);
  db.exec('CREATE TABLE plain (id INTEGER PRIMARY KEY, text TEXT)');
  const text = JSON.stringify(EVENT);
  const insert = db.prepare('INSERT INTO plain (text) VALUES (?)');
  return { commit: () => void insert.run(text), close: () => void db.close() };
}

function stretch(commit: () => void): number[] {
  return Array.from({ length: COMMITS }, () => {
    const startedMs = systemClock.monotonic();
    commit();
    return systemClock.monotonic() - startedMs;
  });
}

/** What every job pays before it can accept its message: a fresh state directory with all tables, durable. */
function openRow(dir: string): BenchRow {
  const times = Array.from({ length: 30 }, (_, index) => {
    const startedMs = systemClock.monotonic();
    const store = mustOpen(join(dir, `fresh-${index}`));
    const tookMs = systemClock.monotonic() - startedMs;
    store.close();
    return tookMs;
  }).sort((left, right) => left - right);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  const p50 = at(0.5);
  return {
    name: 'store: open a fresh state directory',
    unit: 'ms',
    value: p50,
    p50,
    p99: at(0.99),
    bound: '<= 6 ms at p50',
    ok: p50 <= 6,
  };
}
