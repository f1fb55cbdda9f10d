// `/healthz`: the loop turns. `/readyz`: turns are started, or why not. Neither tells anything that is not for everybody.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EngineStatus } from '../handlers/ports.js';
import { type DoorRules, namesRefusal } from './upgrade-rules.js';

interface HealthParts {
  readonly rules: DoorRules;
  status(): EngineStatus;
}

export function answerHttp(request: IncomingMessage, response: ServerResponse, parts: HealthParts): void {
  const refusal = namesRefusal(request.headers, parts.rules);
  if (refusal !== null) {
    say(response, refusal.status, refusal.message);
    return;
  }
  const path = (request.url ?? '').split('?')[0];
  if (path === '/healthz') say(response, 200, 'ok');
  else if (path === '/readyz') sayReadiness(response, parts.status());
  else if (path === '/ws') say(response, 426, 'this is a WebSocket', { upgrade: 'websocket' });
  else say(response, 404, 'there is nothing here');
}

function sayReadiness(response: ServerResponse, { draining, paused, shedding }: EngineStatus): void {
  const reasons = Object.entries({ draining, paused, pressure: shedding })
    .filter(([, holds]) => holds)
    .map(([reason]) => reason);
  const ready = reasons.length === 0;
  response.writeHead(ready ? 200 : 503, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify({ ready, reasons })}\n`);
}

function say(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'text/plain',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(`${text}\n`);
}
