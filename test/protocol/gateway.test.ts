// The protocol over real sockets: what a turn looks like from outside.
import t from 'tap';
import type { CheckedClient } from '../fakes/checked-client.js';
import { type GatewayStage, gatewayStage } from '../fakes/gateway-stage.js';

const text = (words: string) => [{ type: 'text' as const, text: words }];

async function opened(stage: GatewayStage, thread = 'thr_1'): Promise<CheckedClient> {
  const client = await stage.client();
  const { workspace } = await client.call('workspace/default', {});
  await client.call('thread/start', { thread_id: thread, workspace_id: workspace.id });
  return client;
}

const methods = (client: CheckedClient): string[] => client.told.map(({ method }) => method);

t.test('a real client finds its way in', async (t) => {
  const stage = await gatewayStage(t);
  const client = await stage.client();
  const { workspace } = await client.call('workspace/default', {});
  t.same((await client.call('workspace/list', {})).workspaces, [workspace]);
  t.equal(workspace.is_current, true);
  await client.call('workspace/select', { workspace_id: workspace.id, make_current: false });
  const start = { thread_id: 'thr_000000000000000001', workspace_id: workspace.id };
  const { thread } = await client.call('thread/start', start);
  t.match(thread, { id: start.thread_id, status: 'Idle', turns: [], mode: 'Agent' });
  await client.heard(({ method }) => method === 'thread/started');
  t.same((await client.call('thread/start', start)).thread, thread, 'again: the same thread');
  const tree = await client.call('thread/tree', { workspace_id: workspace.id });
  t.same(
    tree.threads.map(({ id }) => id),
    [start.thread_id],
  );
  t.same(await client.call('thread/unsubscribe', { threadId: thread.id }), { status: 'unsubscribed' });
  t.same(await client.call('thread/unsubscribe', { threadId: thread.id }), { status: 'notSubscribed' });
  t.same(await client.call('thread/unsubscribe', { threadId: 'nowhere' }), { status: 'notLoaded' });
});

t.test('a turn is told in order, to each who listens, and can be read back the same', async (t) => {
  const stage = await gatewayStage(t);
  const { engine } = stage;
  const [client, other] = [await opened(stage), await opened(stage)];
  const address = { thread_id: 'thr_1', turn_id: 'trn_1' };
  const { turn } = await client.call('turn/start', {
    ...address,
    input: text('Do it.'),
    permission_profile: { mode: 'supervised' },
  });
  t.match(turn, { id: 'trn_1', status: 'InProgress', permission_profile: { source: 'composer' } });
  t.equal(turn.permission_profile.effective_policy.shell_command, 'ask');
  engine.call('trn_1', 'call_1', 'exec_command', { command: 'ls' });
  engine.progress('trn_1', { event: 'delta', item_id: 'call_1', stream: 'tool_output', text: 'a\n' });
  engine.journal('trn_1', {
    kind: 'tool_result',
    call_id: 'call_1',
    tool: 'exec_command',
    content: { output: 'a\n', exit_code: 0 },
    is_error: false,
    end: 'done',
    duration_ms: 3,
  });
  engine.say('trn_1', 'Nine words.');
  engine.finish('trn_1');
  for (const each of [client, other]) {
    await each.heard(({ method }) => method === 'turn/completed');
    t.same(methods(each).slice(1), [
      'turn/started',
      ...['item/started', 'item/completed'],
      ...['item/started', 'item/command_execution/output_delta', 'item/completed'],
      ...['item/started', 'item/agent_message/delta', 'item/agent_message/delta', 'item/agent_message/delta'],
      ...['item/completed', 'turn/completed'],
    ]);
  }
  const user = client.told.find(({ method }) => method === 'item/completed');
  t.match(user?.params, { item: { type: 'userMessage', id: 'user_trn_1', text: 'Do it.' } });
  const items = await client.call('turn/items', address);
  const live = client.told.flatMap(({ method, params }) =>
    method === 'item/started' || method === 'item/completed' ? [params] : [],
  );
  t.same(
    items.events.flatMap(({ payload }) => (payload.type === 'itemCompleted' ? [payload.item] : [])),
    client.told.flatMap(({ method, params }) => (method === 'item/completed' ? [params.item] : [])),
    'what is read back is what was told',
  );
  const sequences = items.events.map(({ sequence }) => sequence);
  t.same(
    sequences,
    [...new Set(sequences)].sort((a, b) => a - b),
    'rising',
  );
  t.ok(
    live.every(({ sequence }) => sequence === undefined || sequences.includes(Number(sequence))),
    'by the same places',
  );
  const rest = await client.call('turn/items', { ...address, after_sequence: sequences[2] ?? 0 });
  t.same(rest.events, items.events.slice(3));
  t.match(await client.call('turn/get', address), { turn: { status: 'Completed', outcome: 'completed' } });
  const history = await client.call('thread/history', { thread_id: 'thr_1' });
  t.equal(history.events[0]?.payload.type, 'turnStarted');
  t.equal(history.events.at(-1)?.payload.type, 'turnCompleted');
});

t.test(
  'the answer to a start comes before what it starts, and a late subscriber misses nothing',
  async (t) => {
    const stage = await gatewayStage(t);
    const client = await opened(stage);
    const raw = await stage.raw();
    const seen: string[] = [];
    raw.on('message', (data) => {
      const message = JSON.parse(String(data));
      seen.push(message.method ?? 'answer');
    });
    const params = { thread_id: 'thr_1', turn_id: 'trn_2', input: text('x') };
    raw.send(JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(21), method: 'turn/start', params }));
    await client.heard(({ method }) => method === 'item/completed');
    stage.engine.progress('trn_2', { event: 'delta', item_id: 'i', stream: 'text', text: 'be' });
    const late = await stage.client();
    await late.call('turn/start', { ...params, turn_id: 'trn_3' });
    stage.engine.say('trn_2', 'be brief', 'i');
    stage.engine.finish('trn_2');
    await late.heard(({ method, params }) => method === 'turn/completed' && params.turn.id === 'trn_2');
    t.same(seen.slice(0, 4), ['answer', 'turn/started', 'item/started', 'item/completed']);
  },
);

t.test('events that are written together are told once, and nothing follows the end', async (t) => {
  const stage = await gatewayStage(t);
  const client = await opened(stage);
  await client.call('turn/start', { thread_id: 'thr_1', turn_id: 'trn_1', input: text('x') });
  client.told.length = 0;
  stage.engine.sayAndFinish('trn_1', 'All at once.');
  stage.engine.progress('trn_1', { event: 'delta', item_id: 'late', stream: 'text', text: 'late' });
  await client.call('workspace/list', {});
  t.same(methods(client), ['item/started', 'item/completed', 'turn/completed']);
  t.same((await client.call('operator/turns', {})).turns, []);
});

t.test('a start that is sent again is carried out once', async (t) => {
  const stage = await gatewayStage(t);
  const client = await opened(stage);
  const start = { thread_id: 'thr_1', turn_id: 'trn_1', input: text('Once.') };
  const first = await client.call('turn/start', start);
  client.close();
  const again = await opened(stage);
  t.same(await again.call('turn/start', start), first, 'the first answer again');
  t.same(await again.call('turn/start', { ...start, model: null }), first, 'null is as good as absent');
  await t.rejects(again.call('turn/start', { ...start, input: text('Twice.') }), {
    code: 'turn_id_conflict',
    rpc: -32600,
  });
  await t.rejects(again.call('turn/start', { ...start, permission_profile: { mode: 'supervised' } }), {
    code: 'turn_id_conflict',
  });
  t.equal(stage.engine.store.turns.ofThread('thr_1').length, 1);
});

t.test('a message for a busy thread waits, or is refused where that is configured', async (t) => {
  const queueing = await gatewayStage(t);
  const start = (turn_id: string) => ({ thread_id: 'thr_1', turn_id, input: text('x') });
  const patient = await opened(queueing);
  await patient.call('turn/start', start('trn_1'));
  t.match(await patient.call('turn/start', start('trn_2')), { turn: { status: 'InProgress' } });
  const refusing = await gatewayStage(t, { on_busy_thread: 'reject' });
  const client = await opened(refusing);
  await client.call('turn/start', start('trn_1'));
  await t.rejects(client.call('turn/start', start('trn_2')), { code: 'thread_busy', rpc: -32600 });
  refusing.engine.finish('trn_1');
  await client.call('turn/start', start('trn_2'));
});

t.test('a cancel is told as the end of the turn before it is answered, once', async (t) => {
  const stage = await gatewayStage(t);
  const client = await opened(stage);
  const address = { thread_id: 'thr_1', turn_id: 'trn_1' };
  await client.call('turn/start', { ...address, input: text('x') });
  const order: string[] = [];
  client.heard(({ method }) => method === 'turn/failed').then(() => order.push('told'));
  const cancelled = await client.call('turn/cancel', { ...address, reason: 'enough' });
  order.push('answered');
  t.same(order, ['told', 'answered']);
  t.match(cancelled.turn, { status: 'Interrupted', outcome: 'cancelled' });
  t.same((await client.call('turn/cancel', address)).turn, cancelled.turn);
  t.equal(methods(client).filter((method) => method === 'turn/failed').length, 1);
});

t.test('a cancel that waits for its worker holds up nobody else', async (t) => {
  const stage = await gatewayStage(t);
  stage.engine.endsAtOnce = false;
  const client = await opened(stage);
  const address = { thread_id: 'thr_1', turn_id: 'trn_1' };
  await client.call('turn/start', { ...address, input: text('x') });
  const cancelled = client.call('turn/cancel', address);
  await client.call('turn/start', { ...address, turn_id: 'trn_2', input: text('y') });
  t.same(stage.engine.ends, ['trn_1'], 'the end was asked for at once');
  stage.engine.finish('trn_1', 'cancelled');
  t.match(await cancelled, { turn: { status: 'Interrupted' } });
});

t.test('what is not there yet is refused in words, and never run as something else', async (t) => {
  const stage = await gatewayStage(t);
  const client = await opened(stage);
  const start = { thread_id: 'thr_1', turn_id: 'trn_1', input: text('x') };
  const capability = {
    id: 'cap',
    kind: { type: 'skill' as const, slug: 'workspace/documents', sourceKind: 'workspace' },
  };
  const image = { type: 'image' as const, url: 'https://example.org/a.png' };
  const runtime = { type: 'acpAgentRuntime' as const, runtime_id: 'r' };
  for (const more of [
    { capabilities: [capability] },
    { input: [image] },
    { execution_backend: runtime },
    { model: 'another' },
    { model_provider: 'another' },
  ])
    await t.rejects(client.call('turn/start', { ...start, ...more }), { code: 'not_available' });
  await t.rejects(client.call('turn/start', { ...start, input: [] }), {
    code: 'invalid_params',
    rpc: -32602,
  });
  await t.rejects(client.call('turn/start', { ...start, thread_id: 'thr_unknown' }), {
    code: 'thread_not_found',
    rpc: -32600,
  });
  await t.rejects(client.call('turn/get', { thread_id: 'thr_1', turn_id: 'trn_x' }), {
    code: 'turn_not_found',
  });
  t.equal(stage.engine.store.turns.ofThread('thr_1').length, 0);
  await client.call('turn/start', {
    ...start,
    mode: 'Chat',
    model: 'scripted',
    execution_backend: { type: 'apiProvider', provider: 'openai' },
  });
  t.same(stage.engine.row('trn_1').options, { tools: [] }, 'a chat has no tools');
  await client.call('turn/start', { ...start, turn_id: 'trn_2', model: 'small' });
  t.same(stage.engine.row('trn_2').options, { model: 'small' }, 'a declared model may be named');
});

t.test('a question stays open until somebody answers it, and one answer counts', async (t) => {
  const stage = await gatewayStage(t);
  const client = await opened(stage);
  await client.call('turn/start', { thread_id: 'thr_1', turn_id: 'trn_1', input: text('x') });
  stage.engine.ask('trn_1', 'call_q', 'Really?');
  await client.heard(({ method }) => method === 'question/opened');
  const late = await opened(stage);
  t.match(await late.heard(({ method }) => method === 'question/opened'), {
    params: { question: { question_id: 'call_q', text: 'Really?', options: ['yes', 'no'] } },
  });
  t.equal((await late.call('question/list', {})).questions.length, 1);
  t.equal((await late.call('operator/status', {})).questions, 1);
  await late.call('question/answer', { question_id: 'call_q', answer: 'yes' });
  await client.heard(({ method }) => method === 'question/closed');
  await t.rejects(client.call('question/answer', { question_id: 'call_q', answer: 'no' }), {
    code: 'question_already_answered',
  });
  await t.rejects(client.call('question/answer', { question_id: 'call_x', answer: 'no' }), {
    code: 'question_not_found',
  });
  t.same((await late.call('question/list', {})).questions, []);
});

t.test('an operator sees what runs, holds it, and ends it', async (t) => {
  const stage = await gatewayStage(t);
  const client = await opened(stage);
  await client.call('turn/start', { thread_id: 'thr_1', turn_id: 'trn_1', input: text('x') });
  stage.engine.progress('trn_1', { event: 'round', round: 3 });
  stage.engine.call('trn_1', 'call_1', 'exec_command', { command: 'sleep 9' });
  t.match(await client.call('operator/turns', {}), {
    turns: [{ turn_id: 'trn_1', round: 3, tool: 'exec_command', producer: 'client', tokens: 0 }],
  });
  t.match(await client.call('operator/status', {}), { state: 'running', turns: { queued: 1 } });
  t.match(await client.call('operator/pause', {}), { state: 'paused' });
  t.match(await client.call('operator/resume', {}), { state: 'running' });
  t.match(await client.call('operator/kill', { turn_id: 'trn_1', now: true }), {
    outcome: 'cancelled',
    killed: true,
  });
  t.match(await client.call('operator/kill', { turn_id: 'trn_1' }), { killed: false });
  t.match(await client.call('operator/drain', {}), { state: 'draining' });
});
