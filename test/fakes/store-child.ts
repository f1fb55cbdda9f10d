// A process of its own that works on a store and may be killed at it. Run by `test/crash/store.test.ts`:
//   store-child contend DIR      opens and releases the store when told to, and says whether it got it
//   store-child migrate FILE     brings a plain database up to date when told to
//   store-child walk DIR         runs every transaction once, in order; each leaves a mark in the memory
//   store-child write DIR        commits numbered notes for ever and says each number once it is committed
//   store-child hold FILE        holds the write lock of a database until it is told to let go
//   store-child refuse DIR UID   tries to open the store as another user and says what came of it
import { connect } from '../../supervisor/store/database.js';
import { loadMigrations, migrate } from '../../supervisor/store/migrate.js';
import { openStore } from '../../supervisor/store/open.js';
import { type Store, TRANSACTIONS } from '../../supervisor/store/types.js';
import { mustOpen, seedTurn, THREAD, TURN_ID } from './open-store.js';

const say = (message: unknown): void => void process.send?.(message);

function contend(dir: string): void {
  let store: Store | null = null;
  process.on('message', (order) => {
    if (order === 'release') {
      store?.close();
      store = null;
      say('released');
      return;
    }
    const opened = openStore({ dir, on_damage: 'stop', nowMs: 1 });
    if (opened.ok) store = opened.store;
    say(opened.ok ? { won: true } : { won: false, ...opened.failure });
  });
  say('ready');
}

function migrateWhenTold(file: string): void {
  process.once('message', () => {
    const db = connect(file);
    migrate(db, loadMigrations(), process.pid);
    db.close();
    say('migrated');
    process.disconnect();
  });
  say('ready');
}

function walk(dir: string): void {
  const store = mustOpen(dir);
  for (const name of TRANSACTIONS)
    store.transact(name, () =>
      store.memory.set({ key: name, value: true, updated_at_ms: 1, expires_at_ms: null }),
    );
  store.close();
}

function write(dir: string): void {
  const store = mustOpen(dir);
  if (store.turns.get(TURN_ID) === undefined) seedTurn(store);
  for (let count = 1; ; count += 1) {
    store.transact('record_progress', () =>
      store.events.append(TURN_ID, THREAD, { kind: 'note', text: String(count) }, 1),
    );
    process.stdout.write(`${count}\n`);
  }
}

function hold(file: string): void {
  const db = connect(file);
  db.exec('BEGIN IMMEDIATE');
  process.once('message', (delayMs: number) => {
    setTimeout(() => {
      db.exec('ROLLBACK');
      db.close();
      process.disconnect();
    }, delayMs);
    say('letting go');
  });
  say('held');
}

function refuse(dir: string, uid: number): void {
  if (process.getuid?.() !== uid) {
    process.setgid?.(uid);
    process.setuid?.(uid);
  }
  const opened = openStore({ dir, on_damage: 'salvage', nowMs: 1 });
  say(opened.ok ? { kind: 'open' } : opened.failure);
  process.disconnect();
}

const [, , verb, place = '', uid] = process.argv;
if (verb === 'contend') contend(place);
else if (verb === 'migrate') migrateWhenTold(place);
else if (verb === 'walk') walk(place);
else if (verb === 'write') write(place);
else if (verb === 'hold') hold(place);
else if (verb === 'refuse') refuse(place, Number(uid));
