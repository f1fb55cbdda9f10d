// The edge of a daemon on a real store and a real port, before a supervisor that the test plays.

import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Test } from 'tap';
import WebSocket from 'ws';
import { DEFAULTS } from '../../config/defaults.js';
import type { Config } from '../../config/schema.js';
import { systemClock } from '../../shared/clock.js';
import { type Gateway, startGateway } from '../../supervisor/gateway/start-gateway.js';
import { type CheckedClient, checkedClient, type Door } from './checked-client.js';
import { mustOpen } from './open-store.js';
import { PlayedEngine } from './played-engine.js';

export interface GatewayStage extends Door {
  readonly engine: PlayedEngine;
  readonly gateway: Gateway;
  readonly dir: string;
  readonly logs: { event: string; fields: Record<string, unknown> }[];
  client(): Promise<CheckedClient>;
  /** A connection without manners: frames as they are. */
  raw(): Promise<WebSocket>;
}

export async function gatewayStage(
  t: Test,
  gatewayConfig: Partial<Config['gateway']> = {},
  pingMs?: number,
): Promise<GatewayStage> {
  const dir = join(t.testdir({}), 'state');
  const store = mustOpen(dir);
  const engine = new PlayedEngine(store);
  const logs: GatewayStage['logs'] = [];
  const gateway = await startGateway({
    supervisor: engine,
    store,
    clock: systemClock,
    config: {
      ...DEFAULTS,
      gateway: { ...DEFAULTS.gateway, listen: 'http://127.0.0.1:0', ...gatewayConfig },
    },
    logger: {
      log: (_level, event, fields = {}) => void logs.push({ event, fields }),
      mask: () => undefined,
      flushed: () => Promise.resolve(),
    },
    workspaceRoot: dir,
    model: { name: 'scripted', provider: 'openai', others: ['small'] },
    ...(pingMs === undefined ? {} : { pingMs }),
  });
  t.teardown(async () => {
    await gateway.close();
    store.close();
  });
  const token = readFileSync(join(dir, 'operator.token'), 'utf8').trim();
  const door = { url: gateway.url, token };
  return {
    ...door,
    engine,
    gateway,
    dir,
    logs,
    client: () => checkedClient(t, door),
    raw: () => rawSocket(t, door),
  };
}

function rawSocket(t: Test, { url, token }: Door): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers: { authorization: `Bearer ${token}` } });
  t.teardown(() => socket.terminate());
  socket.on('error', () => undefined);
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Status of an upgrade with these headers: 101 when the door opens. */
export function knock(url: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, url), {
      headers: {
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.from('sixteen bytes ok').toString('base64'),
        ...headers,
      },
    });
    asked.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    asked.on('error', reject);
    asked.end();
  });
}
