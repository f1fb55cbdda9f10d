import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import { encodeFrame, FRAME_MAX_BYTES, FrameReader } from '../../shared/ipc/codec.js';
import { parseFrame } from '../../shared/ipc/parse-frame.js';
import { type ToSupervisor, toSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import { IPC_VERSION } from '../../shared/ipc/version.js';
import type { JsonObject } from '../../shared/json.js';
import { Control, type ControlListener } from '../../worker/control.js';
import { DeltaMerger, MERGE_MS } from '../../worker/delta-merger.js';
import { type IpcLinkParts, makeIpcLink } from '../../worker/ipc-link.js';
import { FakeClock } from '../fakes/fake-clock.js';
import { turnSnapshot } from '../fakes/turn-frame.js';

/** Two connected sockets. */
async function socketPair(t: Test): Promise<[Socket, Socket]> {
  const folder = mkdtempSync(join(tmpdir(), 'turnd-link-'));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const left = connect(join(folder, 's'));
  const right = await accepted;
  t.teardown(() => {
    left.destroy();
    right.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return [left, right];
}

/** The supervisor's end by hand: what came, and a way to answer. */
async function wire(t: Test, listener: Partial<ControlListener> = {}) {
  const [own, peer] = await socketPair(t);
  const frames: ToSupervisor[] = [];
  const watchers = new Set<() => void>();
  const reader = new FrameReader();
  peer.on('error', () => undefined);
  peer.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    for (let read = reader.read(); read.kind === 'value'; read = reader.read()) {
      const parsed = parseFrame(toSupervisor, read.value);
      if (parsed.ok) frames.push(parsed.frame);
    }
    for (const watcher of watchers) watcher();
  });
  const none = (): void => undefined;
  const control = new Control(own, own, {
    prepare: none,
    turn: none,
    search: none,
    idle: none,
    cancel: none,
    lost: none,
    fault: none,
    ...listener,
  });
  const say = (frame: ToWorker): void => {
    const encoded = encodeFrame(frame);
    if (encoded.ok) peer.write(encoded.bytes);
  };
  const seen = (fits: (frame: ToSupervisor) => boolean): Promise<ToSupervisor> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = frames.find(fits);
        if (found !== undefined) resolve(found);
      };
      watchers.add(look);
      look();
    });
  say({ type: 'hello', version: IPC_VERSION, worker_id: 'worker_1' });
  await seen((frame) => frame.type === 'ready');
  frames.length = 0;
  return { control, frames, peer, say, seen };
}

function linkOver(control: IpcLinkParts['control'], parts: Partial<IpcLinkParts> = {}) {
  return makeIpcLink({
    control,
    clock: systemClock,
    signal: new AbortController().signal,
    snapshot: turnSnapshot(),
    credentials: { headers: {}, mask: ['the-secret-value'] },
    runTool: () => Promise.resolve({ content: { done: true }, is_error: false }),
    ...parts,
  });
}

const CALL = { call_id: 'call_1', round: 1, index: 0, tool: 'read_file', arguments: { path: 'a' } };

t.test('a last word or a step that fits no frame is never passed over in silence', async (t) => {
  const { control, seen } = await wire(t);
  const text = 'x'.repeat(FRAME_MAX_BYTES);
  t.throws(
    () => linkOver(control).progress({ event: 'note', text }),
    /a step of the turn cannot be recorded: A frame of/,
  );
  let left = 0;
  control.finish({ type: 'failed', code: 'internal_error', message: text }, () => {
    left += 1;
  });
  t.match(await seen((frame) => frame.type === 'failed'), { message: /over the cap/ });
  t.equal(left, 1);
});

t.test('a granted call runs exactly what was granted, and its result waits for the commit', async (t) => {
  const { control, frames, say, seen } = await wire(t);
  const ran: [string, JsonObject][] = [];
  const link = linkOver(control, {
    runTool: (tool, params) => {
      ran.push([tool, params]);
      return Promise.resolve({ content: { text: 'has the-secret-value in it' }, is_error: false });
    },
  });
  let answered = false;
  const result = link.callTool(CALL).finally(() => {
    answered = true;
  });
  t.match(await seen((frame) => frame.type === 'tool_request'), { id: 1, ...CALL });
  t.same(ran, [], 'nothing runs before the verdict');
  say({ type: 'tool_granted', id: 1, arguments: { path: 'b', limit: 5 } });
  const sent = await seen((frame) => frame.type === 'tool_result');
  t.same(ran, [['read_file', { path: 'b', limit: 5 }]]);
  t.match(sent, { id: 1, call_id: 'call_1', result: { content: { text: 'has *** in it' } } });
  t.equal(answered, false, 'the loop does not see it yet');
  say({ type: 'tool_committed', id: 1, artifact_id: 'artifact_1' });
  t.same(await result, {
    content: { text: 'has *** in it', artifact_id: 'artifact_1' },
    is_error: false,
  });
  t.equal(frames.filter((frame) => frame.type === 'tool_result').length, 1);
});

t.test('an answered call runs nothing here', async (t) => {
  const { control, say, seen } = await wire(t);
  const link = linkOver(control, { runTool: () => t.fail('not to be run') as never });
  const result = link.callTool(CALL);
  await seen((frame) => frame.type === 'tool_request');
  say({ type: 'tool_answered', id: 1, result: { content: 'no', is_error: true } });
  t.same(await result, { content: 'no', is_error: true });
});

t.test('calls side by side get their own answers, whatever the order', async (t) => {
  const { control, say, seen } = await wire(t);
  const link = linkOver(control);
  const both = Promise.all([link.callTool(CALL), link.callTool({ ...CALL, call_id: 'call_2', index: 1 })]);
  await seen((frame) => frame.type === 'tool_request' && frame.id === 2);
  say({ type: 'tool_answered', id: 2, result: { content: 'second', is_error: false } });
  say({ type: 'tool_answered', id: 1, result: { content: 'first', is_error: false } });
  t.match(await both, [{ content: 'first' }, { content: 'second' }]);
});

t.test('a tool that throws all the same is a result, and the turn goes on', async (t) => {
  const { control, say, seen } = await wire(t);
  const throwing = linkOver(control, { runTool: () => Promise.reject(new TypeError('broken inside')) });
  const first = throwing.callTool(CALL);
  await seen((frame) => frame.type === 'tool_request');
  say({ type: 'tool_granted', id: 1, arguments: {} });
  await seen((frame) => frame.type === 'tool_result');
  say({ type: 'tool_committed', id: 1 });
  t.match(await first, { is_error: true, content: { error: /broken inside/ } });
});

t.test('arguments that do not fit a frame are answered at once, and told for the journal', async (t) => {
  const { control, seen } = await wire(t);
  const link = linkOver(control);
  const result = await link.callTool({ ...CALL, arguments: { text: 'x'.repeat(17 * 1024 * 1024) } });
  t.match(result, { is_error: true, content: { error: /over the cap/ } });
  t.match(await seen((frame) => frame.type === 'progress'), {
    progress: { event: 'invalid_call', call_id: 'call_1', tool: 'read_file' },
  });
});

t.test('a result that does not fit a frame is replaced by one that says so', async (t) => {
  const { control, say, seen } = await wire(t);
  const huge = { content: 'x'.repeat(17 * 1024 * 1024), is_error: false };
  const result = linkOver(control, { runTool: () => Promise.resolve(huge) }).callTool(CALL);
  await seen((frame) => frame.type === 'tool_request');
  say({ type: 'tool_granted', id: 1, arguments: {} });
  t.match(await seen((frame) => frame.type === 'tool_result'), { result: { is_error: true } });
  say({ type: 'tool_committed', id: 1 });
  t.match(await result, { is_error: true, content: { error: /cannot be passed on/ } });
});

t.test('when the supervisor is gone, everything that waits is answered', async (t) => {
  let lost = 0;
  const { control, peer, seen } = await wire(t, { lost: () => (lost += 1) });
  const link = linkOver(control);
  const call = link.callTool(CALL);
  const budget = link.askBudget(100);
  await seen((frame) => frame.type === 'budget_request');
  peer.destroy();
  t.match(await call, { is_error: true, content: { error: /supervisor/ } });
  t.match(await budget, { kind: 'stop' });
  t.match(await link.callTool(CALL), { is_error: true }, 'and what comes later too');
  t.equal(lost, 1);
});

t.test('pings are answered, cancels are heard and budgets are asked while a call runs', async (t) => {
  const reasons: string[] = [];
  const { control, say, seen } = await wire(t, { cancel: (reason) => reasons.push(reason) });
  const link = linkOver(control, { runTool: () => new Promise(() => undefined) });
  void link.callTool(CALL);
  await seen((frame) => frame.type === 'tool_request');
  say({ type: 'tool_granted', id: 1, arguments: {} });
  say({ type: 'ping', seq: 7 });
  t.match(await seen((frame) => frame.type === 'pong'), { seq: 7 });
  const budget = link.askBudget(100);
  await seen((frame) => frame.type === 'budget_request');
  say({ type: 'cancel', reason: 'deadline' });
  say({ type: 'budget_answer', id: 2, answer: { kind: 'wait', wait_ms: 5 } });
  t.same(await budget, { kind: 'wait', wait_ms: 5 });
  t.same(reasons, ['deadline']);
});

t.test('a wire that makes no sense is a fault, once', async (t) => {
  const cases: readonly [string, ToWorker][] = [
    ['an answer to nothing', { type: 'tool_committed', id: 99 }],
    ['a second hello', { type: 'hello', version: IPC_VERSION, worker_id: 'x' }],
  ];
  for (const [name, frame] of cases) {
    const faults: string[] = [];
    const { say } = await wire(t, { fault: (message) => faults.push(message) });
    say(frame);
    while (faults.length === 0) await new Promise((resolve) => setImmediate(resolve));
    t.equal(faults.length, 1, name);
  }
});

t.test('text told before a call arrives before it', async (t) => {
  const { control, frames, seen } = await wire(t);
  const link = linkOver(control);
  for (const text of ['a', 'b', 'c'])
    link.progress({ event: 'delta', item_id: 'item_1', stream: 'text', text });
  void link.callTool(CALL);
  await seen((frame) => frame.type === 'tool_request');
  const kinds = frames.map((frame) => (frame.type === 'progress' ? frame.progress : frame.type));
  t.match(kinds, [{ text: 'a' }, { text: 'bc' }, 'tool_request']);
});

function merger(congested = () => false) {
  const clock = new FakeClock();
  const sent: { item: string; text: string; atMs: number }[] = [];
  const startMs = clock.monotonic();
  const made = new DeltaMerger({
    clock,
    congested,
    send: ({ item_id: item, text }) => sent.push({ item, text, atMs: clock.monotonic() - startMs }),
  });
  const add = (item: string, text: string, stream: 'text' | 'tool_output' = 'text'): void =>
    made.add({ event: 'delta', item_id: item, stream, text });
  return { clock, sent, made, add };
}

t.test('deltas: the first at once, then one frame an interval and item, and nothing is lost', async (t) => {
  const { clock, sent, add } = merger();
  let told = '';
  for (let index = 0; index < 1_000; index += 1) {
    add('a', `${index},`);
    told += `${index},`;
    await clock.advance(1);
  }
  await clock.advance(MERGE_MS);
  t.equal(sent.map(({ text }) => text).join(''), told);
  t.equal(sent[0]?.atMs, 0);
  t.ok(sent.length <= 1_000 / MERGE_MS + 2, `${sent.length} frames`);
  t.equal(clock.waiting, 0);
});

t.test('deltas: items do not wait for each other', async (t) => {
  const { sent, add } = merger();
  add('a', '1');
  add('b', '2');
  t.match(sent, [{ item: 'a' }, { item: 'b' }]);
});

t.test('deltas: while nobody reads, text waits whole and command output is cut', async (t) => {
  let congested = true;
  const { clock, sent, add } = merger(() => congested);
  for (let index = 0; index < 100; index += 1) {
    add('text', 'x'.repeat(10_000));
    add('output', 'y'.repeat(10_000), 'tool_output');
  }
  await clock.advance(1_000);
  t.same(sent, []);
  congested = false;
  await clock.advance(MERGE_MS);
  const [text, output] = sent;
  t.equal(text?.text.length, 1_000_000);
  t.ok((output?.text.length ?? 0) < 300_000);
  t.match(output?.text, /output left out/);
});
