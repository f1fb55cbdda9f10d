// A store that has seen a hundred thousand threads and a million events, against an empty one: accepting a message,
// reading what its turn is shown, settling it, and one append. The two take turns in short stretches.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../shared/clock.js';
import type { JournalEvent } from '../../shared/journal.js';
import { transcriptSlice } from '../../supervisor/snapshot/transcript-slice.js';
import { configure, connect } from '../../supervisor/store/database.js';
import type { Store } from '../../supervisor/store/types.js';
import { mustOpen } from '../fakes/open-store.js';
import type { BenchRow } from './bench-row.js';
import { quantile } from './quantile.js';

const THREADS = 100_000;
const EVENTS_PER_THREAD = 10;
const STRETCHES = 12;
const EACH = 60;
const MOST_RATIO = 1.1;
/** Prepared statements and pages that every later turn finds in memory. */
const WARM_UP = 100;

const TEXT = 'what a person or a model says in a sentence or three. '.repeat(4);

export async function scaleBench(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'turnd-bench-scale-'));
  try {
    const empty = mustOpen(join(dir, 'empty'));
    mustOpen(join(dir, 'full')).close();
    fill(join(dir, 'full'));
    const openedMs = systemClock.monotonic();
    const full = mustOpen(join(dir, 'full'));
    const openMs = systemClock.monotonic() - openedMs;
    try {
      return [...compare(empty, full), openRow(openMs)];
    } finally {
      empty.close();
      full.close();
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** In one transaction, past the store: only what is read and written afterwards is of interest. */
function fill(stateDir: string): void {
  const db = connect(join(stateDir, 'turnd.db'));
  configure(db);
  const asked: JournalEvent = { kind: 'user_message', item_id: 'item', text: TEXT, principal: 'operator' };
  const note: JournalEvent = { kind: 'note', text: TEXT };
  db.exec(`BEGIN;
    INSERT INTO workspaces (workspace_id, root, created_at_ms) VALUES ('workspace_1', '/somewhere', 1);
    CREATE TEMP TABLE n (i INTEGER PRIMARY KEY);
    WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ${THREADS}) INSERT INTO n SELECT i FROM c;
    INSERT INTO threads (thread_id, workspace_id, owner, created_at_ms)
      SELECT 'thread_' || i, 'workspace_1', 'operator', i FROM n;
    INSERT INTO turns (turn_id, thread_id, state, status, created_at_ms, ended_at_ms)
      SELECT 'turn_' || i, 'thread_' || i, 'ended', 'completed', i, i FROM n;
    INSERT INTO inbox (event_id, turn_id, thread_id, principal, text, done, created_at_ms)
      SELECT 'event_' || i, 'turn_' || i, 'thread_' || i, 'operator', 'text', 1, i FROM n;`);
  const insert = db.prepare(`INSERT INTO turn_events (turn_id, thread_id, at_ms, payload)
    SELECT 'turn_' || n.i, 'thread_' || n.i, n.i, ? FROM n`);
  for (let index = 0; index < EVENTS_PER_THREAD; index += 1)
    insert.run(JSON.stringify(index === 0 ? asked : note));
  db.exec('COMMIT');
  db.close();
}

let made = 0;

/** One message from the door to its end, in a thread of its own, as a store sees it. */
function dispatch(store: Store): void {
  made += 1;
  const [turnId, threadId] = [`turn_new_${made}`, `thread_new_${made}`];
  store.transact('accept_message', () => {
    const workspace = store.workspaces.ensure('/somewhere', 1);
    store.threads.ensure(threadId, workspace.workspace_id, 'operator', 1);
    store.turns.insert({ turn_id: turnId, thread_id: threadId, created_at_ms: 1 });
    store.inbox.insert({
      event_id: `event_new_${made}`,
      turn_id: turnId,
      thread_id: threadId,
      principal: 'operator',
      text: TEXT,
      created_at_ms: 1,
      producer: 'client',
      lane: 'person',
      hop: 0,
    });
    const event: JournalEvent = { kind: 'user_message', item_id: 'item', text: TEXT, principal: 'operator' };
    store.events.append(turnId, threadId, event, 1);
  });
  store.turns.hasOpenBefore(turnId, turnId);
  transcriptSlice(store, threadId, turnId);
  store.transact('settle_turn', () => {
    store.events.append(turnId, threadId, { kind: 'turn_ended', status: 'completed', reply: '' }, 2);
    store.turns.transition(turnId, 'settle', { status: 'completed', ended_at_ms: 2 });
    store.inbox.markDone(`event_new_${made}`);
  });
}

function append(store: Store): void {
  store.transact('record_progress', () =>
    store.events.append(`turn_new_${made}`, `thread_new_${made}`, { kind: 'note', text: TEXT }, 1),
  );
}

function compare(empty: Store, full: Store): BenchRow[] {
  const works = [
    ['dispatch (accept, read, settle)', dispatch],
    ['one append', append],
  ] as const;
  return works.map(([name, work]) => {
    const times = new Map<Store, number[]>([
      [empty, []],
      [full, []],
    ]);
    for (const store of [empty, full]) for (let run = 0; run < WARM_UP; run += 1) dispatch(store);
    for (let stretch = 0; stretch < STRETCHES; stretch += 1)
      for (const store of stretch % 2 === 0 ? [empty, full] : [full, empty]) {
        dispatch(store);
        for (let run = 0; run < EACH; run += 1) times.get(store)?.push(timed(() => work(store)));
      }
    const baseline = quantile(times.get(empty) ?? [], 0.5);
    const value = quantile(times.get(full) ?? [], 0.5);
    return {
      name: `store: ${name}, 100 000 threads and 1 000 000 events against none`,
      unit: 'ms',
      value,
      baseline,
      ratio: value / baseline,
      p50: value,
      p99: quantile(times.get(full) ?? [], 0.99),
      bound: `<= ${MOST_RATIO}x`,
      ok: value <= baseline * MOST_RATIO,
    };
  });
}

function timed(work: () => void): number {
  const startedMs = systemClock.monotonic();
  work();
  return systemClock.monotonic() - startedMs;
}

function openRow(openMs: number): BenchRow {
  return { name: 'store: open with 1 000 000 events', unit: 'ms', value: openMs };
}
