// The real daemon, its workers and a model behind it, as clients meet them over the protocol.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import WebSocket from 'ws';
import { type CheckedClient, checkedClient } from '../fakes/checked-client.js';
import type { FakeCall } from '../fakes/model-steps.js';
import { runTurnd } from '../fakes/run-turnd.js';
import { serveDaemon } from '../fakes/served-daemon.js';

const exec = (command: string): FakeCall => ({ name: 'exec_command', arguments: { command } });
const text = (words: string) => [{ type: 'text' as const, text: words }];

async function open(client: CheckedClient, thread: string): Promise<void> {
  const { workspace } = await client.call('workspace/default', {});
  await client.call('thread/start', { thread_id: thread, workspace_id: workspace.id });
}

t.test('a turn runs, is told in order and can be read back', async (t) => {
  const daemon = await serveDaemon(t, [
    { text: 'Looking.', calls: [exec('echo hi')], pieces: 3 },
    { text: 'Done: hi.', pieces: 3 },
  ]);
  const client = await checkedClient(t, daemon);
  await open(client, 'desk');
  const address = { thread_id: 'desk', turn_id: 'trn_1' };
  const { turn } = await client.call('turn/start', { ...address, input: text('Say hi.') });
  t.equal(turn.status, 'InProgress');
  await client.heard(({ method }) => method === 'turn/completed');
  const methods = client.told.map(({ method }) => method).filter((method) => !method.includes('delta'));
  t.same(methods, [
    'thread/started',
    'turn/started',
    ...['item/started', 'item/completed'],
    ...['item/started', 'item/completed'],
    ...['item/started', 'item/completed'],
    ...['item/started', 'item/completed'],
    'turn/completed',
  ]);
  const said = client.told.flatMap(({ method, params }) =>
    method === 'item/agent_message/delta' ? [params.delta] : [],
  );
  t.equal(said.join(''), 'Looking.Done: hi.');
  const { events } = await client.call('turn/items', address);
  const last = events.at(-1)?.payload;
  t.match(last, { type: 'itemCompleted', item: { type: 'agentMessage', text: 'Done: hi.' } });
  daemon.model.assertDone();
});

t.test('a cancel in the same burst as its start always wins', async (t) => {
  const daemon = await serveDaemon(t, [{ text: 'Too late.', times: Number.POSITIVE_INFINITY, delayMs: 250 }]);
  const client = await checkedClient(t, daemon);
  await open(client, 'first');
  const socket = new WebSocket(daemon.url.replace('http', 'ws'), {
    headers: { authorization: `Bearer ${daemon.token}` },
  });
  t.teardown(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  const answers = new Map<string, (answer: { result?: { turn: { outcome: string } } }) => void>();
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if ('id' in message) answers.get(message.id)?.(message);
  });
  const send = (id: string, method: string, params: object) =>
    new Promise<{ result?: { turn: { outcome: string } } }>((resolve) => {
      const padded = id.padEnd(21, '.');
      answers.set(padded, resolve);
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: padded, method, params }));
    });
  const asked = (prompt: string): number =>
    daemon.model.requests.filter(({ bodyText }) => bodyText.includes(prompt)).length;
  const atAck = new Map<string, number>();
  for (let round = 0; round < 200; round += 1) {
    const thread_id = `thread_${round}`;
    const turn_id = `trn_${round}`;
    const prompt = `prompt number ${round}.`;
    await open(client, thread_id);
    const started = send(`s${round}`, 'turn/start', { thread_id, turn_id, input: text(prompt) });
    if (round % 2 === 1) await new Promise((resolve) => setTimeout(resolve, round % 60));
    const { result } = await send(`c${round}`, 'turn/cancel', { thread_id, turn_id });
    atAck.set(prompt, asked(prompt));
    t.ok((await started).result, `start ${round} was accepted`);
    if (result?.turn.outcome !== 'cancelled') t.fail(`round ${round}: ${JSON.stringify(result)}`);
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const [prompt, before] of atAck)
    if (asked(prompt) !== before) t.fail(`a request went out after the acknowledgement: ${prompt}`);
  t.match(await client.call('operator/turns', {}), { turns: [] }, 'nothing is left');
});

t.test('a reply that was lost is had again, and the turn ran once', async (t) => {
  const daemon = await serveDaemon(t, [{ text: 'Once.' }]);
  const first = await checkedClient(t, daemon);
  await open(first, 'desk');
  const start = { thread_id: 'desk', turn_id: 'trn_1', input: text('Go.') };
  void first.call('turn/start', start).catch(() => undefined);
  first.close();
  await first.closed;
  const second = await checkedClient(t, daemon);
  await open(second, 'desk');
  t.match(await second.call('turn/start', start), { turn: { id: 'trn_1' } });
  for (;;) {
    const { turn } = await second.call('turn/get', { thread_id: 'desk', turn_id: 'trn_1' });
    if (turn.status === 'Completed') break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  daemon.model.assertDone();
  t.equal((await second.call('thread/get', { thread_id: 'desk' })).thread.turns.length, 1);
});

t.test('what a client chooses for its turn holds: mode and tools', async (t) => {
  const daemon = await serveDaemon(t, [
    { text: '', calls: [exec('touch made')] },
    { text: 'It was not allowed.' },
    { text: 'Just talk.' },
  ]);
  const client = await checkedClient(t, daemon);
  await open(client, 'desk');
  const start = (turn_id: string, more: object) =>
    client.call('turn/start', { thread_id: 'desk', turn_id, input: text('Go.'), ...more });
  await start('trn_1', { permission_profile: { mode: 'supervised' } });
  await client.heard(({ method, params }) => method === 'turn/completed' && params.turn.id === 'trn_1');
  t.notOk(existsSync(join(daemon.cwd, 'made')), 'a supervised turn ran no command by itself');
  await start('trn_2', { mode: 'Chat' });
  await client.heard(({ method, params }) => method === 'turn/completed' && params.turn.id === 'trn_2');
  t.same(daemon.model.requests[2]?.body['tools'] ?? [], [], 'a chat offers no tools');
});

t.test('the verbs work on the real daemon, and its end is clean', async (t) => {
  const daemon = await serveDaemon(t, [{ text: 'Hello.' }, { calls: [exec('sleep 60')] }]);
  const at = ['--state-dir', daemon.stateDir];
  const sent = await runTurnd(['send', '--wait', 'Hi', ...at]);
  t.same([sent.code, sent.stdout], [0, 'Hello.\n'], sent.stderr);
  const turnId = (await runTurnd(['send', 'Sleep', ...at])).stdout.trim();
  const client = await checkedClient(t, daemon);
  for (;;) {
    const { turns } = await client.call('operator/turns', {});
    if (turns[0]?.tool === 'exec_command') {
      t.match(turns[0], { turn_id: turnId, state: 'running', round: 1, pid: Number, memory_bytes: Number });
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const killed = await runTurnd(['kill', turnId, '--now', ...at]);
  t.equal(killed.code, 0, killed.stderr);
  t.match(await client.call('turn/get', { thread_id: 'root', turn_id: turnId }), {
    turn: { status: String, outcome: String },
  });
  const drained = await runTurnd(['drain', ...at]);
  t.same([drained.code, drained.stdout], [0, 'drained\n'], drained.stderr);
  t.equal((await daemon.finished).code, 0);
  t.notOk(existsSync(join(daemon.stateDir, 'daemon.json')), 'its mark is gone');
  t.equal((await client.closed).closeCode, 1001);
  t.equal((await runTurnd(['ps', ...at])).code, 1);
});
