// The real daemon under load, under fire and at its end: how many work at once, in which order, and that each message is
// answered exactly once whatever is killed.
import t, { type Test } from 'tap';
import type { JsonObject } from '../../shared/json.js';
import { openReader } from '../../supervisor/store/open.js';
import type { EventRow, TurnRow } from '../../supervisor/store/types.js';
import { type CheckedClient, checkedClient } from '../fakes/checked-client.js';
import { scratch } from '../fakes/job.js';
import type { FakeRequest, FakeStep } from '../fakes/model-steps.js';
import { eventually, processesWith } from '../fakes/processes.js';
import { type ServedDaemon, serveDaemon } from '../fakes/served-daemon.js';

t.setTimeout(240_000);

const THREADS = 10;
const MESSAGES = 20;
const CAP = 4;
const text = (words: string) => [{ type: 'text' as const, text: words }];

interface Said {
  readonly role: string;
  readonly content: string;
}

/** The message that a request is about. */
function asked({ body }: FakeRequest): string {
  const messages = (body as JsonObject)['messages'] as unknown as Said[];
  return messages.findLast(({ role, content }) => role === 'user' && !content.startsWith('['))?.content ?? '';
}

/** Answers after a moment, so that turns overlap as much as they may. */
const echo = (request: FakeRequest): FakeStep => ({ text: `Answer: ${asked(request)}`, delayMs: 20 });

interface Kept {
  readonly turns: readonly TurnRow[];
  readonly events: ReadonlyMap<string, readonly EventRow[]>;
}

function kept(stateDir: string): Kept {
  const opened = openReader(stateDir);
  if (!opened.ok) throw new Error(opened.failure.message);
  const { reader } = opened;
  try {
    const turns = reader.threads.list().flatMap(({ thread_id }) => reader.turns.ofThread(thread_id));
    return { turns, events: new Map(turns.map(({ turn_id }) => [turn_id, reader.events.ofTurn(turn_id)])) };
  } finally {
    reader.close();
  }
}

async function sendAll(client: CheckedClient): Promise<void> {
  const { workspace } = await client.call('workspace/default', {});
  const threads = Array.from({ length: THREADS }, (_, n) => `thread_${n}`);
  for (const thread_id of threads)
    await client.call('thread/start', { thread_id, workspace_id: workspace.id });
  await Promise.all(
    threads.map(async (thread_id) => {
      for (let n = 0; n < MESSAGES; n += 1)
        await client.call('turn/start', {
          thread_id,
          turn_id: `${thread_id}.${n}`,
          input: text(`${thread_id} message ${n}.`),
        });
    }),
  );
}

const allEnded = (stateDir: string, count = THREADS * MESSAGES): Promise<boolean> =>
  eventually(() => {
    const { turns } = kept(stateDir);
    return turns.length === count && turns.every(({ state }) => state === 'ended');
  }, 120_000);

/** In order within each thread, never two at once on one, never more than the cap at once; each answered once. */
function holdsTogether(t: Test, { turns, events }: Kept, once: (turn: TurnRow) => boolean): void {
  const times: { readonly at: number; readonly by: 1 | -1; readonly thread: string }[] = [];
  const next = new Map<string, number>();
  for (const turn of turns) {
    const n = next.get(turn.thread_id) ?? 0;
    next.set(turn.thread_id, n + 1);
    if (turn.turn_id !== `${turn.thread_id}.${n}`) t.fail(`${turn.turn_id} out of order`);
    const told = events.get(turn.turn_id)?.map(({ event }) => event) ?? [];
    const answers = told.filter((event) => event.kind === 'assistant_message');
    if (once(turn) && answers.length !== 1) t.fail(`${turn.turn_id} has ${answers.length} answers`);
    if (told.filter(({ kind }) => kind === 'turn_ended').length !== 1)
      t.fail(`${turn.turn_id} ended not once`);
    if (turn.windows !== 1) continue;
    times.push({ at: turn.started_at_ms ?? 0, by: 1, thread: turn.thread_id });
    times.push({ at: turn.ended_at_ms ?? 0, by: -1, thread: turn.thread_id });
  }
  const atWork = new Map<string, number>();
  let most = 0;
  // Within one millisecond an end may stand before the start that it made room for.
  for (const { by, thread } of times.sort((a, b) => a.at - b.at || a.by - b.by)) {
    atWork.set(thread, (atWork.get(thread) ?? 0) + by);
    const sum = [...atWork.values()].reduce((all, each) => all + each, 0);
    most = Math.max(most, sum);
    if ((atWork.get(thread) ?? 0) > 1) t.fail(`two turns at once on ${thread}`);
  }
  t.ok(most <= CAP, `${most} at once`);
}

t.test('ten threads with twenty messages each keep the cap and their order', async (t) => {
  let atOnce = 0;
  let most = 0;
  const daemon = await serveDaemon(t, (request) => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    setTimeout(() => {
      atOnce -= 1;
    }, 15);
    return echo(request);
  });
  const client = await checkedClient(t, daemon);
  await sendAll(client);
  t.ok(await allEnded(daemon.stateDir), 'all have ended');
  const found = kept(daemon.stateDir);
  holdsTogether(t, found, () => true);
  t.same(
    found.turns.filter(({ status, reply, thread_id, turn_id }) => {
      const n = turn_id.split('.')[1];
      return status !== 'completed' || reply !== `Answer: ${thread_id} message ${n}.`;
    }),
    [],
    'each has its own answer',
  );
  t.equal(daemon.model.requests.length, THREADS * MESSAGES, 'each was asked once');
  t.ok(most <= CAP && most > 1, `${most} requests at once`);
});

t.test('workers that are killed at random cost their own turns and no other', async (t) => {
  const daemon = await serveDaemon(t, echo);
  const client = await checkedClient(t, daemon);
  await sendAll(client);
  let killed = 0;
  let over = false;
  const all = allEnded(daemon.stateDir).then((ended) => {
    over = true;
    return ended;
  });
  while (!over) {
    const { turns } = await client.call('operator/turns', {});
    const pids = turns.flatMap(({ pid }) => (pid === null || pid === undefined ? [] : [pid]));
    const victim = pids[Math.floor(Math.random() * pids.length)];
    if (victim !== undefined && killed < 30)
      try {
        process.kill(victim, 'SIGKILL');
        killed += 1;
      } catch {
        // It was faster.
      }
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  t.ok(await all, 'all have ended');
  const found = kept(daemon.stateDir);
  holdsTogether(t, found, ({ status }) => status === 'completed');
  const failed = found.turns.filter(({ status }) => status !== 'completed');
  t.ok(killed > 3, `${killed} were killed`);
  t.ok(failed.length > 0 && failed.length <= killed, `${failed.length} failed`);
  t.same(
    failed.filter(({ status, error_message }) => status !== 'failed' || !/SIGKILL/.test(error_message ?? '')),
    [],
    'each says which signal it was',
  );
});

t.test('a daemon that is killed again and again answers each message exactly once', async (t) => {
  const stateDir = `${scratch(t)}/state`;
  let daemon: ServedDaemon = await serveDaemon(t, echo, { stateDir });
  await sendAll(await checkedClient(t, daemon));
  const left = (): number => kept(stateDir).turns.filter(({ state }) => state !== 'ended').length;
  for (const mark of [170, 120, 70, 20]) {
    await eventually(() => left() <= mark, 60_000);
    daemon.child.kill('SIGKILL');
    await daemon.finished;
    t.same(
      processesWith(daemon.cwd).map(({ command }) => command),
      [],
      'nothing of it is left',
    );
    daemon = await serveDaemon(t, echo, { stateDir });
  }
  t.ok(await allEnded(stateDir), 'all have ended');
  const found = kept(stateDir);
  holdsTogether(t, found, () => true);
  t.same(
    found.turns.filter(({ status }) => status !== 'completed'),
    [],
  );
  t.ok(
    found.turns.some(({ windows }) => windows > 1),
    'some went on where they were cut off',
  );
});

async function open(client: CheckedClient, thread_id: string): Promise<void> {
  const { workspace } = await client.call('workspace/default', {});
  await client.call('thread/start', { thread_id, workspace_id: workspace.id });
}

t.test('SIGTERM lets what is at work finish, and leaves what waits to the next start', async (t) => {
  const stateDir = `${scratch(t)}/state`;
  const slow = (request: FakeRequest): FakeStep => ({ ...echo(request), delayMs: 600 });
  const first = await serveDaemon(t, slow, { stateDir });
  const client = await checkedClient(t, first);
  await open(client, 'desk');
  for (const n of [0, 1])
    await client.call('turn/start', {
      thread_id: 'desk',
      turn_id: `desk.${n}`,
      input: text(`message ${n}.`),
    });
  await first.model.waitForRequest(1);
  first.child.kill('SIGTERM');
  const ended = await first.finished;
  t.equal(ended.code, 0, ended.stderr);
  t.match(
    kept(stateDir).turns.map(({ state, status }) => [state, status]),
    [
      ['ended', 'completed'],
      ['queued', null],
    ],
  );
  await serveDaemon(t, echo, { stateDir });
  t.ok(await allEnded(stateDir, 2), 'the next one takes it up');
  t.match(
    kept(stateDir).turns.map(({ status, windows }) => [status, windows]),
    [
      ['completed', 1],
      ['completed', 1],
    ],
  );
});

t.test('a turn that cannot finish in time goes on at the next start', async (t) => {
  const stateDir = `${scratch(t)}/state`;
  const first = await serveDaemon(t, () => ({ text: 'Never.', delayMs: 12_000 }), {
    stateDir,
    config: 'lifecycle: {drain_timeout: 200ms}',
  });
  const client = await checkedClient(t, first);
  await open(client, 'desk');
  await client.call('turn/start', { thread_id: 'desk', turn_id: 'desk.0', input: text('message 0.') });
  await first.model.waitForRequest(1);
  first.child.kill('SIGTERM');
  const ended = await first.finished;
  t.equal(ended.code, 0, ended.stderr);
  await serveDaemon(t, echo, { stateDir });
  t.ok(await allEnded(stateDir, 1));
  const { turns, events } = kept(stateDir);
  t.match(turns, [{ status: 'completed', reply: 'Answer: message 0.', windows: 2 }]);
  t.ok(
    events.get('desk.0')?.some(({ event }) => event.kind === 'window_opened'),
    'its journal says so',
  );
});

t.test('a second signal ends the daemon at once', async (t) => {
  const daemon = await serveDaemon(t, () => ({ text: 'Never.', delayMs: 12_000 }));
  const client = await checkedClient(t, daemon);
  await open(client, 'desk');
  await client.call('turn/start', { thread_id: 'desk', turn_id: 'desk.0', input: text('message 0.') });
  await daemon.model.waitForRequest(1);
  const began = process.hrtime.bigint();
  daemon.child.kill('SIGTERM');
  daemon.child.kill('SIGINT');
  await daemon.finished;
  t.ok(process.hrtime.bigint() - began < 8_000_000_000n, 'it does not wait for the drain');
  t.match(kept(daemon.stateDir).turns, [{ state: 'queued' }]);
});

t.test('the first message of a daemon is sent once, also when it dies over it', async (t) => {
  const stateDir = `${scratch(t)}/state`;
  const config = 'agent: {prompt: "Look around."}';
  const first = await serveDaemon(t, () => ({ text: 'Never.', delayMs: 12_000 }), { stateDir, config });
  await first.model.waitForRequest(1);
  first.child.kill('SIGKILL');
  await first.finished;
  const second = await serveDaemon(t, echo, { stateDir, config });
  t.ok(await allEnded(stateDir, 1), 'the one that was left is answered');
  t.match(kept(stateDir).turns, [{ thread_id: 'root', status: 'completed', reply: 'Answer: Look around.' }]);
  second.child.kill('SIGTERM');
  await second.finished;
  await serveDaemon(t, echo, { stateDir, config });
  t.ok(await allEnded(stateDir, 2), 'and another start sends it anew');
});

t.test('a pause holds what waits, over a restart too, until it is taken back', async (t) => {
  const stateDir = `${scratch(t)}/state`;
  const first = await serveDaemon(t, echo, { stateDir });
  const client = await checkedClient(t, first);
  await open(client, 'desk');
  t.match(await client.call('operator/pause', {}), { state: 'paused' });
  await client.call('turn/start', { thread_id: 'desk', turn_id: 'desk.0', input: text('message 0.') });
  first.child.kill('SIGTERM');
  t.equal((await first.finished).code, 0);
  const second = await serveDaemon(t, echo, { stateDir });
  const again = await checkedClient(t, second);
  t.match(await again.call('operator/status', {}), { state: 'paused', turns: { queued: 1, running: 0 } });
  t.match(await again.call('operator/resume', {}), { state: 'running' });
  t.ok(await allEnded(stateDir, 1));
  t.equal(first.model.requests.length, 0);
});

t.test('a turn writes to another thread, now and later', async (t) => {
  const daemon = await serveDaemon(t, (request) => {
    const message = asked(request);
    if (
      message !== 'Tell the others.' ||
      /message_send/.test(JSON.stringify((request.body as JsonObject)['messages']))
    )
      return echo(request);
    return {
      calls: [
        { name: 'message_send', arguments: { to: 'new', text: 'Now.' } },
        { name: 'message_send', arguments: { to: 'root', text: 'Later.', after: '300ms' } },
      ],
    };
  });
  const client = await checkedClient(t, daemon);
  await open(client, 'desk');
  await client.call('turn/start', { thread_id: 'desk', turn_id: 'desk.0', input: text('Tell the others.') });
  t.ok(await allEnded(daemon.stateDir, 3));
  t.same(
    kept(daemon.stateDir)
      .turns.map(({ reply }) => reply)
      .sort(),
    ['Answer: Later.', 'Answer: Now.', 'Answer: Tell the others.'],
  );
});
