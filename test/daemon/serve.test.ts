// How a daemon starts, is held and ends, by the real command.
import t from 'tap';
import type { JsonObject } from '../../shared/json.js';
import { type CheckedClient, checkedClient } from '../fakes/checked-client.js';
import { scratch } from '../fakes/job.js';
import { allEnded, asked, echo, kept } from '../fakes/kept-state.js';
import type { FakeRequest, FakeStep } from '../fakes/model-steps.js';
import { serveDaemon } from '../fakes/served-daemon.js';

const text = (words: string) => [{ type: 'text' as const, text: words }];

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
