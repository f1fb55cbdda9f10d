// Connections to model endpoints: opened once, kept, reopened when the peer closed them, and never trusted blindly.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import { openStandIn } from '../../worker/stand-in.js';
import { hurried, modelBench } from '../fakes/model-call.js';
import { answerOf, failureOf, forEveryDialect, scripted } from '../fakes/model-contract.js';

const STREAM =
  'data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const RESPONSE = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${STREAM.length}\r\n\r\n${STREAM}`;

/** A bare TCP peer; `onSocket` gets each connection with its number, from 1. */
async function peer(
  sub: Test,
  onSocket: (socket: Socket, n: number) => void,
): Promise<{ url: string; server: Server }> {
  let n = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    n += 1;
    open.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket, n);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  sub.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`, server };
}

forEveryDialect(
  'a connection opened ahead serves the calls that follow, TLS handshake included',
  async (t, dialect) => {
    const bench = await scripted(t, dialect, [{ text: 'a' }, { text: 'b' }], { tls: true });
    t.equal(await bench.provider.preconnect(bench.settings, bench.model.ca), true);
    t.equal(await bench.provider.preconnect(bench.settings, bench.model.ca), true, 'one is enough');
    answerOf(await bench.call());
    answerOf(await bench.call());
    t.same(bench.model.counts, { connections: 1, handshakes: 1, probes: 0 });
  },
);

t.test('a call takes the connection that is still being opened', async (t) => {
  const bench = await scripted(t, 'openai', [{ text: 'a' }], { tls: true });
  const opening = bench.provider.preconnect(bench.settings, bench.model.ca);
  const [told] = await Promise.all([bench.call(), opening]);
  answerOf(told);
  t.equal(bench.model.counts.handshakes, 1);
});

t.test('a connection that the peer closes while it is idle is opened again', async (t) => {
  let reopened: () => void = () => undefined;
  const again = new Promise<void>((resolve) => {
    reopened = resolve;
  });
  const { url } = await peer(t, (socket, n) => {
    if (n === 1) systemClock.after(40, () => socket.end());
    else {
      reopened();
      socket.on('data', () => socket.write(RESPONSE));
    }
  });
  const bench = await scripted(t, 'openai', [], { clock: hurried(100), settings: { url } });
  t.equal(await bench.provider.preconnect(bench.settings, undefined), true);
  await again;
  t.equal(answerOf(await bench.call()).text, 'ok');
});

t.test('a kept connection that turns out to be dead costs neither a retry nor a word', async (t) => {
  const { url } = await peer(t, (socket, n) => {
    socket.on('data', () => (n === 1 ? socket.resetAndDestroy() : socket.write(RESPONSE)));
  });
  const bench = await scripted(t, 'openai', [], { settings: { url, retries: 0 } });
  await bench.provider.preconnect(bench.settings, undefined);
  const told = await bench.call();
  t.equal(answerOf(told).text, 'ok');
  t.same(told.events, [{ kind: 'text', text: 'ok' }]);
});

t.test('bytes that nobody asked for are never read as an answer', async (t) => {
  let dropped: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    dropped = resolve;
  });
  const { url } = await peer(t, (socket, n) => {
    if (n === 1) {
      socket.on('close', dropped);
      socket.write(RESPONSE.replace('"ok"', '"forged"'));
    } else socket.on('data', () => socket.write(RESPONSE));
  });
  const bench = await scripted(t, 'openai', [], { settings: { url } });
  await bench.provider.preconnect(bench.settings, undefined);
  await gone;
  t.equal(answerOf(await bench.call()).text, 'ok');
});

t.test('a certificate of an unknown authority ends the call at once', async (t) => {
  const bench = await scripted(t, 'openai', [], { tls: true });
  t.equal(await bench.provider.preconnect(bench.settings, undefined), false);
  const bare = await modelBench({ dialect: 'openai', script: [], settings: { url: bench.model.openaiUrl } });
  t.teardown(() => bare.close());
  const told = await bare.call();
  t.match(failureOf(told), { code: 'model_unreachable', message: /TLS certificate/ });
  t.same(told.events, []);
});

t.test('a peer that never shakes hands is given up after the connect limit', async (t) => {
  const { url } = await peer(t, () => undefined);
  const settings = { url: url.replace('http:', 'https:'), connect_ms: 2_000, retries: 1 };
  const bench = await scripted(t, 'openai', [], { clock: hurried(20), settings });
  t.equal(await bench.provider.preconnect(bench.settings, undefined), false);
  const told = await bench.call();
  t.match(failureOf(told), { code: 'model_unreachable', message: /within 2 s; tried 2 times/ });
  t.match(told.events, [{ kind: 'retry', reason: 'no connection' }]);
});

t.test('nobody there, nothing to reach, nothing after close: preconnect says no', async (t) => {
  const { url, server } = await peer(t, () => undefined);
  const bench = await scripted(t, 'openai', [], { clock: hurried(200), settings: { url } });
  server.close();
  await once(server, 'close');
  t.equal(await bench.provider.preconnect(bench.settings, undefined), false);
  t.equal(await bench.provider.preconnect({ ...bench.settings, url: 'nowhere' }, undefined), false);
  t.match(failureOf(await bench.call()), {
    code: 'model_unreachable',
    message: /no connection.*tried 4 times/,
  });
  bench.provider.close();
  t.equal(await bench.provider.preconnect(bench.settings, undefined), false);
});

forEveryDialect('the stand-in of rehearsals is understood: a call, then a text', async (t, dialect) => {
  const standIn = await openStandIn(dialect, 'list_dir');
  t.teardown(() => standIn?.close());
  const bench = await scripted(t, dialect, []);
  const settings = { url: standIn?.url ?? '', retries: 0 };
  t.match(answerOf(await bench.call({ settings })), {
    text: 'rehearsal',
    stop: 'tool_calls',
    calls: [{ provider_id: 'rehearsal', wire_name: 'list_dir', arguments_text: '{"path":"."}' }],
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  t.match(answerOf(await bench.call({ settings })), { text: 'rehearsal', stop: 'end', calls: [] });
});
