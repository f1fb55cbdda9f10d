// The store and real processes: who gets it, what a kill leaves on either side of each commit, who may migrate.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { KILL_POINTS } from '../../supervisor/kill-point.js';
import { connect } from '../../supervisor/store/database.js';
import { loadMigrations } from '../../supervisor/store/migrate.js';
import { openReader } from '../../supervisor/store/open.js';
import { TRANSACTIONS } from '../../supervisor/store/types.js';
import { mustOpen, seedTurn, TURN_ID } from '../fakes/open-store.js';

// Each of some forty processes starts within a second; the bound is for a machine that is busy.
t.setTimeout(110_000);

const SOURCE = import.meta.url.endsWith('.ts');
const CHILD = fileURLToPath(new URL(`../fakes/store-child.${SOURCE ? 'ts' : 'js'}`, import.meta.url));

function child(t: Test, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const started = fork(CHILD, [...args], {
    execArgv: SOURCE ? ['--import', 'tsx'] : [],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  t.teardown(() => started.kill('SIGKILL'));
  return started;
}

/** The next message of a child; fails when it ends without one. */
async function heard(from: ChildProcess): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(from, 'exit', { signal }).then(() => {
    throw new Error('the child ended and said nothing');
  });
  const message = once(from, 'message', { signal }).then(([first]) => first as unknown);
  // Whichever loses is called off, and that is nobody's failure.
  for (const promise of [ended, message]) promise.catch(() => undefined);
  try {
    return await Promise.race([message, ended]);
  } finally {
    waiting.abort();
  }
}

interface Answer {
  readonly won: boolean;
  readonly kind?: string;
  readonly message?: string;
}

async function asked(from: ChildProcess, order: string): Promise<Answer> {
  const answer = heard(from);
  from.send(order);
  return (await answer) as Answer;
}

t.test('of two that open at once, one gets the store, each of 50 times', async (t) => {
  const dir = join(t.testdir({}), 'state');
  const both = [child(t, ['contend', dir]), child(t, ['contend', dir])];
  await Promise.all(both.map(heard));
  const wins = [0, 0];
  for (let round = 1; round <= 50; round += 1) {
    const answers = await Promise.all(both.map((one) => asked(one, 'open')));
    const winners = answers.filter((answer) => answer.won);
    if (winners.length !== 1) t.fail(`round ${round}: ${JSON.stringify(answers)}`);
    const won = answers.findIndex((answer) => answer.won);
    wins[won] = (wins[won] ?? 0) + 1;
    const loser = answers[1 - won];
    if (loser?.kind !== 'in_use' || !loser.message?.includes(`process ${both[won]?.pid}`))
      t.fail(`round ${round}: ${JSON.stringify(loser)}`);
    await asked(both[won] as ChildProcess, 'release');
  }
  t.equal(
    wins.reduce((sum, count) => sum + count),
    50,
    `shared ${wins.join(' to ')}`,
  );
});

t.test('a killed owner frees the store at once, whatever pid it left behind', async (t) => {
  const dir = join(t.testdir({}), 'state');
  const owner = child(t, ['contend', dir]);
  await heard(owner);
  t.match(await asked(owner, 'open'), { won: true });
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  // The pid on record is that of a live process that has nothing to do with it.
  writeFileSync(join(dir, 'running'), `${process.ppid}\n`);
  const store = mustOpen(dir);
  t.ok((store.unclean_since_ms ?? 0) > 0, 'and the end is known to be unclean');
  store.close();
});

t.test('a reader is let in beside an owner in another process, and knows that there is one', async (t) => {
  const dir = join(t.testdir({}), 'state');
  const owner = child(t, ['contend', dir]);
  await heard(owner);
  await asked(owner, 'open');
  const opened = openReader(dir);
  if (!opened.ok) throw new Error(opened.failure.message);
  t.equal(opened.reader.isOwned(), true);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  t.equal(opened.reader.isOwned(), false);
  opened.reader.close();
});

t.test('a write waits for a lock that another program holds, and is not lost', async (t) => {
  const store = mustOpen(join(t.testdir({}), 'state'));
  const holder = child(t, ['hold', join(store.dir, 'turnd.db')]);
  t.equal(await heard(holder), 'held');
  const answer = heard(holder);
  holder.send(300);
  t.equal(await answer, 'letting go');
  seedTurn(store);
  t.equal(store.turns.get(TURN_ID)?.state, 'queued');
  store.close();
});

t.test('two that migrate one database at once bring it to the same place, each step done once', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const file = join(t.testdir({ 'plain.db': '' }), 'plain.db');
    const both = [child(t, ['migrate', file]), child(t, ['migrate', file])];
    await Promise.all(both.map(heard));
    t.same(await Promise.all(both.map((one) => asked(one, 'go'))), ['migrated', 'migrated']);
    const db = connect(file);
    const versions = db.prepare('SELECT version FROM migrations ORDER BY version').pluck().all();
    t.same(
      versions,
      loadMigrations().map((migration) => migration.version),
    );
    t.ok(db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'turn_events'").get());
    db.close();
  }
});

t.test('a kill before a commit leaves nothing of it, a kill after it leaves all', async (t) => {
  const points = KILL_POINTS.map((point) => ({ point, dir: mkdtempSync(join(tmpdir(), 'turnd-kill-')) }));
  t.teardown(() => {
    for (const { dir } of points) rmSync(dir, { recursive: true });
  });
  for (let start = 0; start < points.length; start += 2)
    await Promise.all(
      points.slice(start, start + 2).map(async ({ point, dir }) => {
        const [, signal] = await once(child(t, ['walk', dir], { TURND_TEST_KILL_AT: point }), 'exit');
        t.equal(signal, 'SIGKILL', point);
        const [side, name] = point.split('-commit:');
        const at = (TRANSACTIONS as readonly string[]).indexOf(name ?? '');
        const store = mustOpen(dir);
        t.same(
          TRANSACTIONS.filter((transaction) => store.memory.get(transaction, 1) !== undefined),
          TRANSACTIONS.slice(0, side === 'after' ? at + 1 : at),
          `${point}: what is there`,
        );
        t.ok(store.unclean_since_ms !== null, `${point}: the end was not clean`);
        seedTurn(store);
        store.close();
      }),
    );
});

t.test('a kill point can be armed for a later pass, and an unknown one is refused', async (t) => {
  const dir = join(t.testdir({}), 'state');
  const env = { TURND_TEST_KILL_AT: 'after-commit:record_progress:7' };
  await once(child(t, ['write', dir], env), 'exit');
  const store = mustOpen(dir);
  t.equal(store.events.ofTurn(TURN_ID).length, 7);
  store.close();
  const unknown = fork(CHILD, ['walk', dir], {
    execArgv: SOURCE ? ['--import', 'tsx'] : [],
    env: { ...process.env, TURND_TEST_KILL_AT: 'somewhere' },
    stdio: 'ignore',
  });
  t.same(await once(unknown, 'exit'), [1, null]);
});

t.test('kill -9 in the middle of writing loses nothing that was said to be committed', async (t) => {
  const dir = join(t.testdir({}), 'state');
  for (let round = 0; round < 3; round += 1) {
    const writer = child(t, ['write', dir]);
    let said = '';
    writer.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.split('\n').length > 300) writer.kill('SIGKILL');
    });
    await once(writer, 'close');
    const last = Number(said.split('\n').at(-2));
    const store = mustOpen(dir);
    const notes = store.events
      .ofTurn(TURN_ID)
      .map(({ event }) => (event.kind === 'note' ? Number(event.text) : Number.NaN));
    const ofThisRound = notes.slice(notes.lastIndexOf(1));
    t.ok(ofThisRound.length >= last, `${last} were said, ${ofThisRound.length} are there`);
    t.same(
      ofThisRound,
      ofThisRound.map((_, index) => index + 1),
      'in order and without a gap',
    );
    store.close();
  }
});

t.test(
  'a directory that may not be written is unusable, says what to do, and is left as it is',
  async (t) => {
    // Root may write anywhere, so a child of root becomes somebody else first.
    const root = process.getuid?.() === 0;
    const home = mkdtempSync(join(tmpdir(), 'turnd-foreign-'));
    t.teardown(() => {
      chmodSync(home, 0o700);
      rmSync(home, { recursive: true });
    });
    const dir = join(home, 'state');
    const store = mustOpen(dir);
    seedTurn(store);
    store.close();
    chmodSync(home, root ? 0o755 : 0o500);
    const place = root ? dir : join(home, 'fresh');
    const message = await heard(child(t, ['refuse', place, String(root ? 65534 : process.getuid?.())]));
    t.match(message, { kind: 'unusable', message: /cannot be used.*--state-dir/ });
    const again = mustOpen(dir);
    t.equal(again.turns.get(TURN_ID)?.state, 'queued');
    again.close();
  },
);
