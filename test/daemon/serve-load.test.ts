// The real daemon under load and under fire: how many work at once, in which order, and that each message is answered
// exactly once whatever is killed.
import t, { type Test } from 'tap';
import type { TurnRow } from '../../supervisor/store/rows.js';
import { type CheckedClient, checkedClient } from '../fakes/checked-client.js';
import { scratch } from '../fakes/job.js';
import { allEnded, echo, type Kept, kept } from '../fakes/kept-state.js';
import { eventually, processesWith } from '../fakes/processes.js';
import { type ServedDaemon, serveDaemon } from '../fakes/served-daemon.js';

t.setTimeout(240_000);

const THREADS = 10;
const MESSAGES = 20;
const CAP = 4;
const text = (words: string) => [{ type: 'text' as const, text: words }];

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
  t.ok(await allEnded(daemon.stateDir, THREADS * MESSAGES), 'all have ended');
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
  const all = allEnded(daemon.stateDir, THREADS * MESSAGES).then((ended) => {
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
  t.ok(await allEnded(stateDir, THREADS * MESSAGES), 'all have ended');
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
