// A damaged database: every kind is noticed at the start, kept aside, told, and read as far as it goes.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { connect } from '../../supervisor/store/database.js';
import { openReader, openStore } from '../../supervisor/store/open.js';
import type { Store } from '../../supervisor/store/types.js';
import { mustOpen, seedTurn, THREAD, TURN_ID } from '../fakes/open-store.js';

const PAGE = 4096;
const NOTES = 400;

/** A closed store of a few hundred pages. */
function filled(t: Test): string {
  const dir = join(t.testdir({}), 'state');
  const store = mustOpen(dir);
  fill(store);
  store.close();
  return dir;
}

function fill(store: Store): void {
  seedTurn(store);
  store.transact('record_progress', () => {
    for (let index = 0; index < NOTES; index += 1) note(store, `${index} ${'x'.repeat(1_000)}`);
    store.memory.set({ key: 'kept', value: [1, 2], updated_at_ms: 1, expires_at_ms: null });
  });
}

function note(store: Store, text: string): void {
  store.events.append(TURN_ID, THREAD, { kind: 'note', text }, 1);
}

function overwrite(file: string, offset: number, bytes: Buffer): void {
  const content = readFileSync(file);
  bytes.copy(content, offset);
  writeFileSync(file, content);
}

const notesOf = (store: Store): number => store.events.ofTurn(TURN_ID).length;

interface Kind {
  readonly name: string;
  damage(file: string): void;
  /** Notes that must be saved at least. */
  readonly least: number;
}

const KINDS: readonly Kind[] = [
  {
    name: 'its first 100 bytes overwritten',
    damage: (file) => overwrite(file, 0, Buffer.alloc(100, 0x55)),
    least: NOTES,
  },
  {
    name: 'cut in half',
    damage: (file) => truncateSync(file, Math.floor(statSync(file).size / 2 / PAGE) * PAGE),
    least: NOTES / 4,
  },
  {
    name: 'cut within a page',
    damage: (file) => truncateSync(file, Math.floor(statSync(file).size / 2) - 77),
    least: NOTES / 4,
  },
  {
    name: 'a middle page zeroed',
    damage: (file) => overwrite(file, PAGE * 60, Buffer.alloc(PAGE)),
    least: NOTES - 5,
  },
  { name: 'cut to 0 bytes', damage: (file) => truncateSync(file, 0), least: 0 },
  { name: 'filled with something else', damage: (file) => writeFileSync(file, 'not a database'), least: 0 },
  { name: 'removed', damage: (file) => rmSync(file), least: 0 },
  {
    name: 'replaced by a directory',
    damage: (file) => {
      rmSync(file);
      mkdirSync(file);
    },
    least: 0,
  },
];

for (const kind of KINDS) {
  t.test(`a database with ${kind.name}`, (t) => {
    t.test('stops this start, is kept as it was, and what could be read is there at the next', (t) => {
      const dir = filled(t);
      const file = join(dir, 'turnd.db');
      kind.damage(file);
      const damaged = statSync(file, { throwIfNoEntry: false });
      const bytes = damaged?.isFile() ? readFileSync(file) : null;
      const opened = openStore({ dir, on_damage: 'stop', nowMs: 1_234 });
      t.match(opened, { ok: false, failure: { kind: 'damaged', message: /damaged|missing/ } });
      if (opened.ok) return t.end();
      t.match(opened.failure.message, /\d+ rows were saved, (at least |an unknown number|\d+)/);
      if (damaged !== undefined) {
        const folder = readdirSync(dir).find((name) => name.startsWith('damaged-')) ?? '';
        t.match(opened.failure.message, folder);
        t.equal(statSync(join(dir, folder)).mode & 0o777, 0o700);
        const kept = join(dir, folder, 'turnd.db');
        t.equal(statSync(kept).isDirectory(), damaged.isDirectory());
        if (bytes !== null) t.ok(readFileSync(kept).equals(bytes), 'byte for byte');
        t.match(readFileSync(join(dir, folder, 'report.txt'), 'utf8'), /Damage: /);
      }
      const next = openStore({ dir, on_damage: 'stop', nowMs: 2_000 });
      t.match(next, { ok: true, notice: null });
      if (!next.ok) return t.end();
      t.ok(notesOf(next.store) >= kind.least, `${notesOf(next.store)} notes are there`);
      seedTurn(next.store, 'turn_after');
      next.store.close();
      t.end();
    });

    t.test('opens with what could be read where salvage is chosen, and says so', (t) => {
      const dir = filled(t);
      kind.damage(join(dir, 'turnd.db'));
      const opened = openStore({ dir, on_damage: 'salvage', nowMs: 1_234 });
      t.match(opened, { ok: true, notice: /rows were saved/ });
      if (!opened.ok) return t.end();
      t.ok(notesOf(opened.store) >= kind.least, `${notesOf(opened.store)} notes are there`);
      if (kind.least > 0) t.equal(opened.store.turns.get(TURN_ID)?.thread_id, THREAD);
      opened.store.close();
      t.match(openStore({ dir, on_damage: 'stop', nowMs: 9 }), { ok: true, notice: null });
      t.end();
    });
    t.end();
  });
}

t.test('the count of what was lost is true where it can be known', (t) => {
  const dir = filled(t);
  overwrite(join(dir, 'turnd.db'), PAGE * 60, Buffer.alloc(PAGE));
  const opened = openStore({ dir, on_damage: 'salvage', nowMs: 1 });
  if (!opened.ok) throw new Error(opened.failure.message);
  t.teardown(() => opened.store.close());
  const lost = NOTES - notesOf(opened.store);
  t.ok(lost > 0, 'the page held notes');
  t.match(opened.notice, new RegExp(` rows were saved, ${lost} lost`));
  t.end();
});

t.test('a long value whose last page was zeroed is noticed, and only it is lost', (t) => {
  const dir = join(t.testdir({}), 'state');
  const store = mustOpen(dir);
  seedTurn(store);
  store.transact('record_progress', () => {
    note(store, 'before');
    note(store, `needle${'y'.repeat(6_000)}`);
    note(store, 'after');
  });
  store.close();
  const file = join(dir, 'turnd.db');
  const page = Math.floor(readFileSync(file).lastIndexOf('y'.repeat(1_500)) / PAGE);
  overwrite(file, page * PAGE, Buffer.alloc(PAGE));
  const opened = openStore({ dir, on_damage: 'salvage', nowMs: 1 });
  t.match(opened, { ok: true, notice: /lost/ });
  if (!opened.ok) return t.end();
  t.same(
    opened.store.events.ofTurn(TURN_ID).map(({ event }) => (event.kind === 'note' ? event.text : '')),
    ['before', 'after'],
  );
  opened.store.close();
  t.end();
});

t.test('rows whose parents were lost can still be reached, and nothing of them is run again', (t) => {
  const dir = filled(t);
  const file = join(dir, 'turnd.db');
  const db = connect(file);
  const root = Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'turns'").pluck().get());
  db.close();
  overwrite(file, (root - 1) * PAGE, Buffer.alloc(PAGE));
  const opened = openStore({ dir, on_damage: 'salvage', nowMs: 1 });
  if (!opened.ok) throw new Error(opened.failure.message);
  t.teardown(() => opened.store.close());
  t.match(opened.store.turns.get(TURN_ID), { state: 'ended', status: 'failed', error_code: 'state_damaged' });
  t.equal(opened.store.events.ofThread(THREAD).length, NOTES);
  t.same(opened.store.inbox.pending(), []);
  t.end();
});

t.test('a lost write-ahead log is noticed where the last owner did not close', (t) => {
  const dir = join(t.testdir({}), 'state');
  const store = mustOpen(dir);
  fill(store);
  // What a kill leaves: the files as they are at this moment.
  const left = new Map(
    ['turnd.db', 'turnd.db-wal', 'running'].map((name) => [name, readFileSync(join(dir, name))]),
  );
  store.close();
  for (const [name, bytes] of left) if (name !== 'turnd.db-wal') writeFileSync(join(dir, name), bytes);
  rmSync(join(dir, 'turnd.db-wal'), { force: true });
  const opened = openStore({ dir, on_damage: 'stop', nowMs: 1 });
  t.match(opened, { ok: false, failure: { kind: 'damaged', message: /write-ahead log is gone/ } });
  t.end();
});

t.test('after an unclean end everything committed is there, and the time of the last write is known', (t) => {
  const dir = join(t.testdir({}), 'state');
  const store = mustOpen(dir);
  fill(store);
  const left = new Map(
    ['turnd.db', 'turnd.db-wal', 'running'].map((name) => [name, readFileSync(join(dir, name))]),
  );
  store.close();
  const startedMs = statSync(join(dir, 'format')).mtimeMs;
  for (const [name, bytes] of left) writeFileSync(join(dir, name), bytes);
  const again = mustOpen(dir);
  t.equal(notesOf(again), NOTES);
  t.ok((again.unclean_since_ms ?? 0) >= Math.trunc(startedMs) - 10);
  again.close();
  t.end();
});

t.test('a salvage that was cut short is taken up again at the next start', (t) => {
  const dir = filled(t);
  const aside = join(dir, 'damaged-1970-01-01T00-00-00-001Z');
  mkdirSync(aside);
  writeFileSync(join(aside, 'turnd.db'), readFileSync(join(dir, 'turnd.db')));
  rmSync(join(dir, 'turnd.db'));
  const opened = openStore({ dir, on_damage: 'salvage', nowMs: 1 });
  if (!opened.ok) throw new Error(opened.failure.message);
  t.equal(notesOf(opened.store), NOTES);
  opened.store.close();
  t.end();
});

t.test('two damages at one moment get two folders, and no work file is left', (t) => {
  const dir = filled(t);
  for (let again = 0; again < 2; again += 1) {
    overwrite(join(dir, 'turnd.db'), 0, Buffer.alloc(100));
    t.match(openStore({ dir, on_damage: 'stop', nowMs: 7 }), { ok: false });
  }
  t.equal(readdirSync(dir).filter((name) => name.startsWith('damaged-')).length, 2);
  t.notOk(readdirSync(dir).some((name) => name.includes('.salvage') || name.includes('.new')));
  t.end();
});

t.test('an empty file where no store ever was is a fresh start; a reader says that there is none', (t) => {
  const dir = join(t.testdir({}), 'state');
  mkdirSync(dir);
  writeFileSync(join(dir, 'turnd.db'), '');
  t.match(openReader(dir), { ok: false, failure: { kind: 'unusable' } });
  mustOpen(dir).close();
  t.notOk(existsSync(join(dir, 'turnd.db.new')));
  t.match(openReader(dir), { ok: true });
  t.end();
});
