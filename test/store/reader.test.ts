// Looking into a state directory: beside its owner, after a kill, and through the two commands that print it.
import { cpSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { runItems } from '../../supervisor/cli/items.js';
import { runShow } from '../../supervisor/cli/show.js';
import { openReader } from '../../supervisor/store/open.js';
import type { Reader } from '../../supervisor/store/reader.js';
import type { Store } from '../../supervisor/store/types.js';
import { mustOpen, seedTurn, THREAD, TURN_ID, testStore } from '../fakes/open-store.js';

function mustRead(t: Test, dir: string): Reader {
  const opened = openReader(dir);
  if (!opened.ok) throw new Error(opened.failure.message);
  t.teardown(() => opened.reader.close());
  return opened.reader;
}

interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function printed(run: (io: never) => Promise<number>): Promise<Printed> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { stdout, stderr, env: { HOME: '/nowhere' }, cwd: '/' };
  const code = await run(io as never);
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

const show = (stateDir: string, thread = THREAD, json = false): Promise<Printed> =>
  printed((io) => runShow(io, { thread, stateDir, json }));
const items = (stateDir: string, turn = TURN_ID, json = false): Promise<Printed> =>
  printed((io) => runItems(io, { turn, stateDir, json }));

function talk(store: Store): void {
  store.transact('record_progress', () => {
    const add = (event: Parameters<Store['events']['append']>[2]): void =>
      void store.events.append(TURN_ID, THREAD, event, 1_700_000_000_000);
    add({ kind: 'user_message', item_id: 'i1', text: 'List it.\nAll of it.', principal: 'operator' });
    add({
      kind: 'assistant_message',
      item_id: 'i2',
      round: 1,
      text: '',
      calls: [{ call_id: 'call_1', name: 'list_dir', arguments: { path: '.' } }],
      stop: 'tool_calls',
      model: 'm',
    });
    add({
      kind: 'tool_intent',
      call_id: 'call_1',
      round: 1,
      index: 0,
      tool: 'list_dir',
      arguments: { path: '.' },
      verdict: 'allow',
      reason: 'mode full_access',
      runs: 'worker',
    });
    add({
      kind: 'tool_result',
      call_id: 'call_1',
      tool: 'list_dir',
      content: { output: 'a\nb', evil: '\u001b]0;title\u0007\u202e' },
      is_error: false,
      end: 'done',
      duration_ms: 3,
    });
    store.turns.transition(TURN_ID, 'dispatch', { model: 'm', pid: 1 });
    store.turns.transition(TURN_ID, 'ready');
  });
}

t.test('a reader sees each commit of a live owner, blocks nobody and writes nothing', (t) => {
  const store = testStore(t);
  const reader = mustRead(t, store.dir);
  t.equal(reader.isOwned(), true);
  for (let count = 1; count <= 20; count += 1) {
    store.transact('record_progress', () => {
      store.events.append(TURN_ID, THREAD, { kind: 'note', text: String(count) }, count);
      t.equal(reader.events.ofTurn(TURN_ID).length, count - 1, 'not before it is committed');
    });
    t.equal(reader.events.ofTurn(TURN_ID).length, count);
  }
  t.equal(reader.turns.ofThread(THREAD).length, 1);
  t.end();
});

t.test('a reader that stays open does not keep its owner from closing, or the next from opening', (t) => {
  const store = testStore(t);
  const reader = mustRead(t, store.dir);
  t.equal(reader.threads.list().length, 1);
  store.close();
  t.equal(reader.isOwned(), false);
  const again = mustOpen(store.dir);
  t.equal(again.unclean_since_ms, null, 'the end was clean');
  seedTurn(again, 'turn_2');
  t.equal(reader.turns.ofThread(THREAD).length, 2);
  again.close();
  t.end();
});

t.test('reading a closed store changes no byte of it', (t) => {
  const store = testStore(t);
  talk(store);
  store.close();
  const file = join(store.dir, 'turnd.db');
  const before = { bytes: readFileSync(file), mtime: statSync(file).mtimeMs };
  const reader = mustRead(t, store.dir);
  t.equal(reader.events.ofThread(THREAD).length, 4);
  t.equal(reader.usage.ofTurn(TURN_ID).input_tokens, 0);
  reader.close();
  t.ok(readFileSync(file).equals(before.bytes));
  t.equal(statSync(file).mtimeMs, before.mtime);
  t.end();
});

t.test('show and items print a turn that runs as running', async (t) => {
  const store = testStore(t);
  talk(store);
  const thread = await show(store.dir);
  t.equal(thread.code, 0, thread.stderr);
  t.match(thread.stdout, /^thread root, workspace \/somewhere, 1 turn\n/);
  t.match(thread.stdout, /turn_1 {2}running\n/);
  t.match(thread.stdout, /operator: List it\.\n {4}All of it\./);
  t.match(thread.stdout, /→ list_dir {"path":"\."}/);
  const list = await items(store.dir);
  t.equal(list.code, 0, list.stderr);
  for (const kind of ['user_message', 'assistant_message', 'tool_intent', 'tool_result'])
    t.match(list.stdout, new RegExp(`^2023-11-14 22:13:20\\.000Z {2}${kind}`, 'm'));
  t.match(list.stdout, / {4}output: a\n {6}b\n/, 'text keeps its lines');
  t.match(list.stdout, /turn_1 {2}running\n$/);
  t.notMatch(
    list.stdout + thread.stdout,
    /[\u001b\u0007\u202e]/,
    'nothing reaches the terminal as a command',
  );
});

t.test('a turn whose supervisor died shows as interrupted, never as completed', async (t) => {
  const store = testStore(t);
  talk(store);
  const dead = `${store.dir}-copy`;
  cpSync(store.dir, dead, { recursive: true });
  for (const result of [await show(dead), await items(dead)]) {
    t.equal(result.code, 0, result.stderr);
    t.match(result.stdout, /interrupted: left running when its supervisor was lost/);
    t.notMatch(result.stdout, /completed/);
  }
  const json = (await items(dead, TURN_ID, true)).stdout.trim().split('\n');
  t.match(JSON.parse(json.at(-1) ?? ''), { kind: 'turn_state', state: 'running', status: null, left: true });
  const [row] = (await show(dead, THREAD, true)).stdout.trim().split('\n');
  t.match(JSON.parse(row ?? ''), { turn_id: TURN_ID, state: 'running', left: true });
});

t.test('with --json there is one document a line', async (t) => {
  const store = testStore(t);
  talk(store);
  store.transact('settle_turn', () =>
    store.turns.transition(TURN_ID, 'settle', {
      status: 'failed',
      error_code: 'worker_lost',
      error_message: 'killed',
    }),
  );
  const lines = (await items(store.dir, TURN_ID, true)).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.same(
    lines.map((line) => line.kind),
    ['user_message', 'assistant_message', 'tool_intent', 'tool_result', 'turn_state'],
  );
  t.match(lines[0], { at_ms: 1_700_000_000_000, turn_id: TURN_ID, text: 'List it.\nAll of it.' });
  t.match(lines[4], { state: 'ended', status: 'failed', left: false });
  t.match((await show(store.dir)).stdout, /turn_1 {2}failed: killed/);
});

t.test('an unknown id says which there are; an unknown directory says that nothing is there', async (t) => {
  const store = testStore(t);
  t.match(await show(store.dir, 'other'), { code: 2, stderr: /no thread other in .*; there are: root\n/ });
  t.match(await items(store.dir, 'turn_x'), { code: 2, stderr: /no turn turn_x in .*; there are: turn_1\n/ });
  t.match(await show('/nowhere'), { code: 2, stderr: /there is no store in \/nowhere/ });
  const unnamed = await printed((io) => runShow(io, { thread: THREAD }));
  t.match(unnamed, { code: 2, stderr: /--state-dir/ });
});
