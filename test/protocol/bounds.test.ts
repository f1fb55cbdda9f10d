// What clients can do wrong, by accident or on purpose: it costs them, and nobody else.
import { connect as dial } from 'node:net';
import t from 'tap';
import type WebSocket from 'ws';
import { settleDown } from '../fakes/dispatch-stage.js';
import { type GatewayStage, gatewayStage, knock } from '../fakes/gateway-stage.js';

const id = (name: string): string => name.padEnd(21, '.');
const frame = (fields: object): string => JSON.stringify({ jsonrpc: '2.0', ...fields });

function answerOf(
  socket: WebSocket,
): Promise<{ id: string | null; error?: { code: number; data: { code: string } } }> {
  return new Promise((resolve, reject) => {
    const gone = (code: number): void => reject(new Error(`closed with ${code}`));
    socket.once('close', gone);
    socket.once('message', (data) => {
      socket.off('close', gone);
      resolve(JSON.parse(String(data)));
    });
  });
}

const closeOf = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => socket.once('close', (code) => resolve(code)));

async function running(stage: GatewayStage, turn_id = 'trn_1') {
  const client = await stage.client();
  const { workspace } = await client.call('workspace/default', {});
  await client.call('thread/start', { thread_id: 'thr_1', workspace_id: workspace.id });
  await client.call('turn/start', { thread_id: 'thr_1', turn_id, input: [{ type: 'text', text: 'x' }] });
  return client;
}

t.test('each malformed frame gets its own error, and the connection goes on', async (t) => {
  const stage = await gatewayStage(t);
  const socket = await stage.raw();
  const asked = (method: string, params?: unknown) => frame({ id: id('a'), method, params });
  const deep = asked('workspace/list').replace(/}$/, `,"params":{"a":${'['.repeat(64)}${']'.repeat(64)}}}`);
  const cases: readonly (readonly [string, number, string, string | null])[] = [
    ['{', -32700, 'parse_error', null],
    ['', -32700, 'parse_error', null],
    ['\u0000', -32700, 'parse_error', null],
    ['[]', -32600, 'invalid_request', null],
    [`[${asked('workspace/list', {})}]`, -32600, 'invalid_request', null],
    ['null', -32600, 'invalid_request', null],
    ['7', -32600, 'invalid_request', null],
    [deep, -32600, 'invalid_request', null],
    [frame({ method: 'workspace/list' }), -32600, 'invalid_request', null],
    [frame({ id: 7, method: 'workspace/list' }), -32600, 'invalid_request', null],
    [frame({ id: 'x'.repeat(20), method: 'workspace/list' }), -32600, 'invalid_request', null],
    [frame({ id: 'x'.repeat(22), method: 'workspace/list' }), -32600, 'invalid_request', null],
    [frame({ id: id('a'), method: 'workspace/list', jsonrpc: '1.0' }), -32600, 'invalid_request', id('a')],
    [frame({ id: id('a'), method: 7 }), -32600, 'invalid_request', id('a')],
    [asked('foo/bar'), -32601, 'method_not_found', id('a')],
    [asked('__proto__'), -32601, 'method_not_found', id('a')],
    [asked('constructor'), -32601, 'method_not_found', id('a')],
    [asked('toString/x'), -32601, 'method_not_found', id('a')],
    [asked('provider/list', {}), -32070, 'method_unavailable', id('a')],
    [asked('turn/start', { thread_id: 't' }), -32602, 'invalid_params', id('a')],
    [asked('turn/start', [1]), -32602, 'invalid_params', id('a')],
    [asked('turn/start', { thread_id: ' ', turn_id: 'x' }), -32602, 'invalid_params', id('a')],
    [asked('turn/get', 'text'), -32602, 'invalid_params', id('a')],
  ];
  for (const [text, code, name, answered] of cases) {
    const answer = answerOf(socket);
    socket.send(text);
    const got = await answer;
    const what = text.slice(0, 60);
    t.equal(got.error?.code, code, what);
    t.equal(got.error?.data.code, name, what);
    t.equal(got.id, answered, what);
  }
  const emoji = '😀'.repeat(21);
  const polluted = `{"jsonrpc":"2.0","id":"${emoji}","method":"workspace/list","__proto__":{"x":1},"params":{"__proto__":{"y":1}}}`;
  const answer = answerOf(socket);
  socket.send(polluted);
  t.match(await answer, { id: emoji, result: { workspaces: [{}] } }, 'characters are counted, not bytes');
  t.equal(({} as { x?: number }).x, undefined, 'and nothing was polluted');
});

t.test('frames that cannot be read end their connection, with the code that says why', async (t) => {
  const stage = await gatewayStage(t);
  const other = await running(stage);
  const huge = await stage.raw();
  huge.send('x'.repeat(9 * 1024 * 1024));
  t.equal(await closeOf(huge), 1009);
  const garbled = await stage.raw();
  garbled.send(Buffer.from([0xc3, 0x28]), { binary: false });
  t.equal(await closeOf(garbled), 1007);
  const binary = await stage.raw();
  binary.send(Buffer.from('VOC1....'));
  const answer = answerOf(binary);
  binary.send(frame({ id: id('b'), method: 'workspace/list' }));
  t.equal((await answer).id, id('b'), 'a binary frame that nobody waits for is passed over');
  stage.engine.say('trn_1', 'untouched');
  stage.engine.finish('trn_1');
  await other.heard(({ method }) => method === 'turn/completed');
});

t.test('random frames never get further than an error', async (t) => {
  const stage = await gatewayStage(t);
  const other = await running(stage);
  const socket = await stage.raw();
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const good = frame({ id: id('f'), method: 'turn/get', params: { thread_id: 'thr_1', turn_id: 'trn_1' } });
  let answers = 0;
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const { error, result } = JSON.parse(String(data));
      if (error === undefined && result === undefined) t.fail(`neither result nor error: ${data}`);
      if (error?.data.code === 'internal_error') t.fail(`an internal error for ${data}`);
      answers += 1;
      if (answers === 500) resolve();
    });
  });
  for (let round = 0; round < 500; round += 1) {
    const at = random(good.length);
    const length = random(6);
    const noise = Array.from({ length: random(4) }, () => String.fromCharCode(32 + random(90))).join('');
    socket.send(good.slice(0, at) + noise + good.slice(at + length));
    if (round % 50 === 49) await settleDown();
  }
  await all;
  t.same(
    stage.logs.filter(({ event }) => event === 'internal_error'),
    [],
  );
  t.match(await other.call('turn/get', { thread_id: 'thr_1', turn_id: 'trn_1' }), {
    turn: { status: 'InProgress' },
  });
});

t.test('an id that is still in flight, and too many requests at once, are refused', async (t) => {
  const stage = await gatewayStage(t);
  stage.engine.endsAtOnce = false;
  await running(stage);
  const socket = await stage.raw();
  const cancel = (name: string) =>
    frame({ id: id(name), method: 'turn/cancel', params: { thread_id: 'thr_1', turn_id: 'trn_1' } });
  const answers: string[] = [];
  socket.on('message', (data) => answers.push(JSON.parse(String(data)).error?.data.code ?? 'result'));
  for (let index = 0; index < 64; index += 1) socket.send(cancel(`c${index}`));
  socket.send(cancel('c1'));
  socket.send(cancel('c64'));
  while (answers.length < 2) await settleDown();
  t.same(answers, ['invalid_request', 'too_many_requests']);
  stage.engine.finish('trn_1', 'cancelled');
  while (answers.length < 66) await settleDown();
  t.equal(answers.filter((answer) => answer === 'result').length, 64, 'the others got theirs');
});

t.test('a client that stops reading is let go, and costs neither memory nor the others', async (t) => {
  const stage = await gatewayStage(t);
  const reader = await running(stage);
  const deaf = await stage.raw();
  const answer = answerOf(deaf);
  deaf.send(
    frame({
      id: id('s'),
      method: 'thread/start',
      params: {
        thread_id: 'thr_1',
        workspace_id: (await reader.call('workspace/default', {})).workspace.id,
      },
    }),
  );
  await answer;
  deaf.pause();
  const piece = 'x'.repeat(64 * 1024);
  const before = process.memoryUsage().rss;
  for (let sent = 0; sent < 4_000; sent += 1) {
    stage.engine.progress('trn_1', { event: 'delta', item_id: 'i', stream: 'text', text: piece });
    if (sent % 4 === 3) await settleDown();
    // Kept by the test alone: what counts is the daemon.
    reader.told.length = 0;
  }
  const grown = process.memoryUsage().rss - before;
  t.ok(
    stage.logs.some(({ event }) => event === 'gateway.slow_client'),
    'it was noticed',
  );
  t.ok(grown < 200 * 1024 * 1024, `250 MB went by, and the process grew by ${grown >> 20} MB`);
  t.match(await reader.call('operator/status', {}), { state: 'running' });
  stage.engine.finish('trn_1');
  await reader.heard(({ method }) => method === 'turn/completed');
  deaf.resume();
  t.ok([4008, 1006].includes(await closeOf(deaf)), 'the deaf one was cut off');
});

t.test('deltas that wait for a slow reader reach it whole, in larger pieces', async (t) => {
  const stage = await gatewayStage(t);
  const client = await running(stage);
  const slow = await stage.raw();
  const { workspace } = await client.call('workspace/default', {});
  const params = { thread_id: 'thr_1', workspace_id: workspace.id };
  const answer = answerOf(slow);
  slow.send(frame({ id: id('s'), method: 'thread/start', params }));
  await answer;
  slow.pause();
  let told = '';
  for (let number = 0; number < 60_000; number += 1) {
    const text = `${number} `;
    told += text;
    stage.engine.progress('trn_1', { event: 'delta', item_id: 'i', stream: 'text', text });
    if (number % 500 === 0) await settleDown();
  }
  let got = '';
  let pieces = 0;
  const ended = new Promise<void>((resolve) => {
    slow.on('message', (data) => {
      const { method, params } = JSON.parse(String(data));
      if (method === 'item/agent_message/delta') {
        got += params.delta;
        pieces += 1;
      }
      if (method === 'turn/completed') resolve();
    });
  });
  stage.engine.finish('trn_1');
  slow.resume();
  await ended;
  t.equal(got, told);
  t.ok(pieces < 60_000, `${pieces} pieces`);
});

t.test('a half-open connection is noticed by its silence', async (t) => {
  const stage = await gatewayStage(t, {}, 20);
  const { hostname, port } = new URL(stage.url);
  const dead = dial(Number(port), hostname);
  t.teardown(() => dead.destroy());
  const closed = new Promise<void>((resolve) => dead.once('close', () => resolve()));
  dead.write(
    [
      'GET / HTTP/1.1',
      `Host: ${hostname}:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: c2l4dGVlbiBieXRlcyBvaw==',
      `Authorization: Bearer ${stage.token}`,
      '',
      '',
    ].join('\r\n'),
  );
  dead.on('data', () => undefined);
  await closed;
  const alive = await stage.client();
  await new Promise((resolve) => setTimeout(resolve, 150));
  t.match(await alive.call('workspace/list', {}), { workspaces: [{}] }, 'one that answers stays');
});

t.test('two hundred clients are served, and the one too many is told so', async (t) => {
  const stage = await gatewayStage(t, { max_connections: 200 });
  const clients = await Promise.all(Array.from({ length: 200 }, () => stage.client()));
  const bearer = { authorization: `Bearer ${stage.token}` };
  t.equal(await knock(stage.url, '/', bearer), 503);
  const lists = await Promise.all(clients.map((client) => client.call('workspace/list', {})));
  t.equal(lists.length, 200);
  clients[0]?.close();
  await clients[0]?.closed;
  while ((await knock(stage.url, '/', bearer)) !== 101) await settleDown();
});
