// Opening a store: modes, durability, migrations, newer databases, and what an unclean end leaves.
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { configure, connect } from '../../supervisor/store/database.js';
import { knownVersion, loadMigrations, migrate } from '../../supervisor/store/migrate.js';
import { openReader, openStore } from '../../supervisor/store/open.js';
import { mustOpen, seedTurn, THREAD, TURN_ID, testStore } from '../fakes/open-store.js';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

t.test('what a store writes is for its owner alone, whatever the umask', (t) => {
  for (const umask of [0, 0o777]) {
    const dir = join(t.testdir({}), `state-${umask}`);
    const before = process.umask(umask);
    try {
      const store = mustOpen(dir);
      seedTurn(store);
      store.transact('state_tool', () =>
        store.artifacts.create(Buffer.from('x'), {
          artifact_id: 'artifact_1',
          thread_id: THREAD,
          turn_id: TURN_ID,
          name: 'x',
          mime: 'text/plain',
          created_at_ms: 1,
        }),
      );
      for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        t.equal(modeOf(path), entry.isDirectory() ? 0o700 : 0o600, `umask ${umask}: ${path}`);
      }
      t.equal(modeOf(dir), 0o700);
      store.close();
    } finally {
      process.umask(before);
    }
  }
  t.end();
});

t.test(
  'a looser mode from outside is tightened at the next start, and a read-only file made writable',
  (t) => {
    const dir = join(t.testdir({}), 'state');
    mustOpen(dir).close();
    chmodSync(dir, 0o755);
    chmodSync(join(dir, 'turnd.db'), 0o444);
    const store = mustOpen(dir);
    seedTurn(store);
    t.equal(modeOf(dir), 0o700);
    t.equal(modeOf(join(dir, 'turnd.db')), 0o600);
    store.close();
    t.end();
  },
);

t.test('a directory that others share is refused and keeps its mode', (t) => {
  const dir = join(t.testdir({}), 'shared');
  mkdirSync(dir);
  chmodSync(dir, 0o1777);
  const opened = openStore({ dir, on_damage: 'stop', nowMs: 1 });
  t.match(opened, { ok: false, failure: { kind: 'unusable', message: /shared with others/ } });
  t.same(readdirSync(dir), []);
  t.end();
});

t.test('a directory that holds something else is refused and keeps its mode', (t) => {
  const dir = join(
    t.testdir({ home: { '.profile': 'x' }, empty: {}, cut: { lock: '', artifacts: {} } }),
    'home',
  );
  chmodSync(dir, 0o755);
  const opened = openStore({ dir, on_damage: 'stop', nowMs: 1 });
  t.match(opened, { ok: false, failure: { kind: 'unusable', message: /holds other files/ } });
  t.equal(modeOf(dir), 0o755);
  t.same(readdirSync(dir), ['.profile']);
  for (const name of ['empty', 'cut']) {
    const store = mustOpen(join(t.testdirName, name));
    store.close();
    writeFileSync(join(store.dir, 'note'), 'something that came later');
    mustOpen(store.dir).close();
  }
  t.end();
});

t.test('a directory that cannot be made is refused, at once', (t) => {
  writeFileSync(join(t.testdir({}), 'file'), '');
  // The first is a file system that answers "no such file" to every new name.
  for (const dir of [
    `/proc/${process.pid}/a/b`,
    join(t.testdirName, 'file'),
    join(t.testdirName, 'file/a'),
  ]) {
    const opened = openStore({ dir, on_damage: 'stop', nowMs: 1 });
    t.match(opened, { ok: false, failure: { kind: 'unusable', message: /cannot be used/ } }, dir);
  }
  t.end();
});

t.test('every connection syncs the log at each commit, also on a database that is opened again', (t) => {
  const dir = join(t.testdir({}), 'state');
  mustOpen(dir).close();
  for (let again = 0; again < 2; again += 1) {
    const db = connect(join(dir, 'turnd.db'));
    configure(db);
    t.equal(db.pragma('synchronous', { simple: true }), 2);
    t.equal(db.pragma('journal_mode', { simple: true }), 'wal');
    t.equal(db.pragma('foreign_keys', { simple: true }), 1);
    t.equal(db.pragma('trusted_schema', { simple: true }), 0);
    t.ok(Number(db.pragma('busy_timeout', { simple: true })) >= 8_000, 'a lock of some seconds is sat out');
    db.close();
  }
  t.end();
});

t.test('migrations run once, in order, and a second run changes nothing', (t) => {
  const folder = t.testdir({
    '0001-first.sql': '-- breaking: one\nCREATE TABLE one (id INTEGER PRIMARY KEY) STRICT;',
    '0002-second.sql': '-- compatible: two\nCREATE TABLE two (id INTEGER PRIMARY KEY) STRICT;',
    'plain.db': '',
  });
  const steps = loadMigrationsFrom(folder);
  t.equal(knownVersion(steps), 1, 'a compatible step does not lock older code out');
  const db = connect(join(folder, 'plain.db'));
  t.teardown(() => db.close());
  migrate(db, steps.slice(0, 1), 5);
  migrate(db, steps, 6);
  migrate(db, steps, 7);
  t.same(db.prepare('SELECT version, applied_at_ms FROM migrations').all(), [
    { version: 1, applied_at_ms: 5 },
    { version: 2, applied_at_ms: 6 },
  ]);
  t.equal(db.pragma('user_version', { simple: true }), 1);
  t.end();
});

t.test('a migration that fails leaves neither its tables nor its mark', (t) => {
  const folder = t.testdir({
    '0001-broken.sql':
      '-- breaking: half\nCREATE TABLE half (id INTEGER) STRICT; CREATE TABLE half (id INTEGER);',
    'plain.db': '',
  });
  const db = connect(join(folder, 'plain.db'));
  t.teardown(() => db.close());
  t.throws(() => migrate(db, loadMigrationsFrom(folder), 1));
  t.same(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'half'").all(), []);
  t.same(db.prepare('SELECT * FROM migrations').all(), []);
  t.equal(db.pragma('user_version', { simple: true }), 0);
  t.end();
});

t.test('who finds a step done by another while it waited does not do it again', (t) => {
  const folder = t.testdir({
    '0001-first.sql': '-- breaking: one\nCREATE TABLE one (id INTEGER PRIMARY KEY) STRICT;',
    'plain.db': '',
  });
  const steps = loadMigrationsFrom(folder);
  const [slow, quick] = [connect(join(folder, 'plain.db')), connect(join(folder, 'plain.db'))];
  t.teardown(() => void [slow.close(), quick.close()]);
  /** The steps of the slow one: when it comes to do them, the quick one has done them all. */
  function* late(): Generator<(typeof steps)[number]> {
    migrate(quick, steps, 1);
    yield* steps;
  }
  migrate(slow, Object.assign([...steps], { [Symbol.iterator]: late }), 2);
  t.same(slow.prepare('SELECT version, applied_at_ms FROM migrations').all(), [
    { version: 1, applied_at_ms: 1 },
  ]);
  t.end();
});

t.test('migration files must be numbered without gaps and say what they mean for older code', (t) => {
  const sql = '-- breaking: x\n';
  t.throws(() => loadMigrations(t.testdir({ '0002-late.sql': sql })), /missing or doubled/);
  t.throws(() => loadMigrations(t.testdir({ '0001-mute.sql': 'SELECT 1;' })), /must begin/);
  t.throws(() => loadMigrations(t.testdir({ 'first.sql': sql })), /not the name/);
  t.ok(loadMigrations().length > 0, 'the real ones load');
  t.end();
});

t.test('a newer database is refused and not one of its bytes changes', (t) => {
  const dir = join(t.testdir({}), 'state');
  const file = join(dir, 'turnd.db');
  mustOpen(dir).close();
  const db = connect(file);
  db.pragma('user_version = 999');
  db.close();
  const bytes = readFileSync(file);
  for (const on_damage of ['stop', 'salvage'] as const) {
    const opened = openStore({ dir, on_damage, nowMs: 1 });
    t.match(opened, { ok: false, failure: { kind: 'newer', message: /999/ } });
    t.ok(readFileSync(file).equals(bytes), 'unchanged');
  }
  t.match(openReader(dir), { ok: false, failure: { kind: 'newer' } });
  t.end();
});

t.test('a newer database whose version stands only in its log is refused too', (t) => {
  const dir = join(t.testdir({}), 'state');
  const [file, wal] = [join(dir, 'turnd.db'), join(dir, 'turnd.db-wal')];
  mustOpen(dir).close();
  const db = connect(file);
  db.pragma('user_version = 999');
  const [bytes, log] = [readFileSync(file), readFileSync(wal)];
  db.close();
  writeFileSync(file, bytes);
  writeFileSync(wal, log);
  t.match(openStore({ dir, on_damage: 'stop', nowMs: 1 }), { ok: false, failure: { kind: 'newer' } });
  t.ok(readFileSync(file).equals(bytes));
  t.ok(readFileSync(wal).equals(log));
  t.end();
});

t.test('a second owner is told who has it, at once, and the database is not touched', (t) => {
  const store = testStore(t);
  const file = join(store.dir, 'turnd.db');
  const before = statSync(file);
  const startedMs = process.hrtime.bigint();
  const opened = openStore({ dir: store.dir, on_damage: 'salvage', nowMs: 1 });
  t.ok(process.hrtime.bigint() - startedMs < 500_000_000n, 'at once');
  t.match(opened, { ok: false, failure: { kind: 'in_use', message: `process ${process.pid}` } });
  t.equal(statSync(file).mtimeMs, before.mtimeMs);
  t.equal(store.turns.get(TURN_ID)?.state, 'queued', 'the owner goes on');
  t.end();
});

t.test('a clean end leaves no trace of a running owner, and the next start none of an unclean one', (t) => {
  const dir = join(t.testdir({}), 'state');
  for (let again = 0; again < 3; again += 1) {
    const store = mustOpen(dir);
    t.equal(store.unclean_since_ms, null);
    store.close();
    store.close();
    t.same(readdirSync(dir).sort(), ['artifacts', 'format', 'lock', 'spool', 'turnd.db']);
  }
  t.end();
});

t.test('a place that cannot be a directory is unusable, with a remedy', (t) => {
  const file = join(t.testdir({ plain: 'x' }), 'plain');
  const opened = openStore({ dir: join(file, 'state'), on_damage: 'stop', nowMs: 1 });
  t.match(opened, { ok: false, failure: { kind: 'unusable', message: /--state-dir/ } });
  t.end();
});

function loadMigrationsFrom(folder: string): ReturnType<typeof loadMigrations> {
  const only = join(folder, 'only');
  mkdirSync(only);
  for (const name of readdirSync(folder))
    if (name.endsWith('.sql')) writeFileSync(join(only, name), readFileSync(join(folder, name)));
  return loadMigrations(only);
}
