// Plays one step onto one response, faults included. Knows nothing of scripts and counting.
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { sleep, systemClock } from '../../shared/clock.js';
import { errorEvent, eventsOf, halfEvent, pingOf, streamType } from './model-bytes.js';
import type { BreakOff, FakeRequest, FakeStep } from './model-steps.js';

const PING_EVERY_MS = 10;

function head(step: FakeStep, request: FakeRequest, type: string): Record<string, string> {
  const name = request.dialect === 'bedrock' ? 'x-amzn-requestid' : 'x-request-id';
  return { 'content-type': type, [name]: `req_fake_${request.index}`, ...step.headers };
}

async function pingForEver(response: ServerResponse, ping: Buffer): Promise<void> {
  while (!response.destroyed && !response.writableEnded) {
    response.write(ping);
    await sleep(systemClock, PING_EVERY_MS);
  }
}

async function goWrong(response: ServerResponse, request: FakeRequest, fault: BreakOff): Promise<void> {
  switch (fault.how) {
    case 'drop':
      // Once what was written has left, so that the client sees the events before the reset.
      await nextTick();
      response.socket?.resetAndDestroy();
      return;
    case 'end':
      response.end();
      return;
    case 'silence':
      return;
    case 'half_event':
      response.write(halfEvent(request.dialect));
      return;
    case 'pings':
      return pingForEver(response, pingOf(request.dialect));
    case 'error_event':
      response.end(
        errorEvent(
          request.dialect,
          fault.error?.type ?? 'overloaded_error',
          fault.error?.message ?? 'Overloaded',
        ),
      );
  }
}

async function writeAll(response: ServerResponse, events: readonly Buffer[], step: FakeStep): Promise<void> {
  if (step.pieceDelayMs === undefined && step.splitBytes === undefined) {
    if (events.length > 0) response.write(Buffer.concat(events));
    return;
  }
  if (step.splitBytes !== undefined) {
    const bytes = Buffer.concat(events);
    for (let start = 0; start < bytes.length && !response.destroyed; start += step.splitBytes) {
      response.write(bytes.subarray(start, start + step.splitBytes));
      await nextTick();
    }
    return;
  }
  for (const event of events) {
    await sleep(systemClock, step.pieceDelayMs ?? 0);
    if (response.destroyed) return;
    response.write(event);
  }
}

function sendPlain(response: ServerResponse, request: FakeRequest, step: FakeStep): void {
  const body = typeof step.body === 'string' ? step.body : JSON.stringify(step.body ?? {});
  response.writeHead(step.status ?? 200, head(step, request, 'application/json'));
  response.end(body);
}

function faultOf(step: FakeStep): BreakOff | undefined {
  if (step.hang === 'headers_only') return { after: 0, how: 'silence' };
  if (step.hang === 'half_event') return { after: 0, how: 'half_event' };
  if (step.hang === 'pings') return { after: 0, how: 'pings' };
  return step.breakOff;
}

/** Answers one request as the step says. Resolves when nothing more will be written. */
export async function play(response: ServerResponse, request: FakeRequest, step: FakeStep): Promise<void> {
  if (step.hold !== undefined) await step.hold;
  if (step.delayMs !== undefined) await sleep(systemClock, step.delayMs);
  if (step.hang === 'no_answer') return;
  if (step.hang === 'drop') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (step.body !== undefined || (step.status ?? 200) !== 200) return sendPlain(response, request, step);
  const fault = faultOf(step);
  const events = eventsOf(step, request);
  response.writeHead(200, head(step, request, streamType(request.dialect)));
  if (fault === undefined) {
    if (step.pieceDelayMs !== undefined || step.splitBytes !== undefined) {
      response.flushHeaders();
      await writeAll(response, events, step);
      response.end();
    } else response.end(Buffer.concat(events));
    return;
  }
  response.flushHeaders();
  await writeAll(response, events.slice(0, fault.after), step);
  if (!response.destroyed) await goWrong(response, request, fault);
}
