// The door of the daemon: who is let in, who is kept out, and where it says that it is.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { gatewayStage, knock } from '../fakes/gateway-stage.js';

t.test('only who knows the token is let in, by header or by subprotocol', async (t) => {
  const { url, token } = await gatewayStage(t);
  const bearer = { authorization: `Bearer ${token}` };
  t.equal(await knock(url, '/', {}), 401);
  t.equal(await knock(url, '/ws', { authorization: 'Bearer wrong' }), 401);
  t.equal(await knock(url, `/ws?token=${token}`, {}), 401, 'a token in a URL is none');
  t.equal(await knock(url, '/ws', { authorization: token }), 401);
  for (const path of ['/', '/ws']) t.equal(await knock(url, path, bearer), 101);
  t.equal(await knock(url, '/', { 'sec-websocket-protocol': `turnd, turnd.bearer.${token}` }), 101);
  t.equal(await knock(url, '/', { 'sec-websocket-protocol': 'turnd, turnd.bearer.x' }), 401);
  t.equal(await knock(url, '/socket', bearer), 404);
});

t.test('web pages and foreign names are kept out, with a right token too', async (t) => {
  const stage = await gatewayStage(t, {
    allowed_origins: ['https://console.example'],
    allowed_hosts: ['daemon.example'],
  });
  const bearer = { authorization: `Bearer ${stage.token}` };
  const { port } = new URL(stage.url);
  t.equal(await knock(stage.url, '/', { ...bearer, origin: 'https://evil.example' }), 403);
  t.equal(await knock(stage.url, '/', { ...bearer, origin: 'http://127.0.0.1:3000' }), 403);
  t.equal(await knock(stage.url, '/', { ...bearer, origin: 'null' }), 403);
  t.equal(await knock(stage.url, '/', { ...bearer, origin: 'https://console.example' }), 101);
  t.equal(await knock(stage.url, '/', { ...bearer, origin: `http://127.0.0.1:${port}` }), 101);
  t.equal(await knock(stage.url, '/', { ...bearer, host: `rebound.example:${port}` }), 403);
  t.equal(await knock(stage.url, '/', { ...bearer, host: `daemon.example:${port}` }), 101);
  t.equal((await fetch(`${stage.url}/healthz`)).status, 200);
});

t.test('guessing tokens is slowed down, and the operator is not', async (t) => {
  const { url, token } = await gatewayStage(t);
  for (let guess = 0; guess < 5; guess += 1) await knock(url, '/', { authorization: `Bearer ${guess}` });
  const began = process.hrtime.bigint();
  const slow = knock(url, '/', { authorization: 'Bearer again' });
  t.equal(await knock(url, '/', { authorization: `Bearer ${token}` }), 101);
  t.ok(process.hrtime.bigint() - began < 900_000_000n, 'the right token waits for nobody');
  t.equal(await slow, 401);
  t.ok(process.hrtime.bigint() - began > 900_000_000n, 'the wrong one waits');
});

t.test('the mark of the daemon is private, tells where it is, and goes with it', async (t) => {
  const stage = await gatewayStage(t);
  const mark = join(stage.dir, 'daemon.json');
  t.equal(statSync(mark).mode & 0o777, 0o600);
  const { url, pid, token_file } = JSON.parse(readFileSync(mark, 'utf8'));
  t.same({ url, pid }, { url: stage.url, pid: process.pid });
  t.equal(statSync(token_file).mode & 0o777, 0o600);
  t.notMatch(JSON.stringify(stage.logs), stage.token, 'the token is not logged');
  const client = await stage.client();
  await stage.gateway.close();
  t.equal((await client.closed).closeCode, 1001);
  t.notOk(existsSync(mark));
});

t.test('readiness names what holds turns back', async (t) => {
  const stage = await gatewayStage(t);
  t.equal((await fetch(`${stage.url}/readyz`)).status, 200);
  stage.engine.pause();
  const paused = await fetch(`${stage.url}/readyz`);
  t.equal(paused.status, 503);
  t.same(await paused.json(), { ready: false, reasons: ['paused'] });
});
