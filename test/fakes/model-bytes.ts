// The bytes of an answer in each dialect, event by event: text for most, binary messages for Bedrock.
import type { JsonObject } from '../../shared/json.js';
import { eventStreamMessage, modelEvent } from '../../worker/models/event-stream-message.js';
import type { FakeRequest, FakeStep } from './model-steps.js';
import { argumentsText, callId, pieces, textError, textEvents, USAGE } from './model-streams.js';

type Dialect = FakeRequest['dialect'];

function say(name: string, fields: JsonObject): Buffer {
  return modelEvent(name, JSON.stringify(fields));
}

function block(index: number, start: JsonObject | null, deltas: readonly JsonObject[]): Buffer[] {
  return [
    ...(start === null ? [] : [say('contentBlockStart', { contentBlockIndex: index, start })]),
    ...deltas.map((delta) => say('contentBlockDelta', { contentBlockIndex: index, delta })),
    say('contentBlockStop', { contentBlockIndex: index }),
  ];
}

function bedrockBlocks(step: FakeStep, request: FakeRequest): Buffer[] {
  const blocks: Buffer[][] = [];
  if (step.reasoning !== undefined) {
    const deltas: JsonObject[] = pieces(step.reasoning, step.pieces).map((text) => ({
      reasoningContent: { text },
    }));
    const signature = step.signature === undefined ? 'signed-by-the-fake' : step.signature;
    if (signature !== null) deltas.push({ reasoningContent: { signature } });
    blocks.push(block(blocks.length, null, deltas));
  }
  if (step.text !== undefined)
    blocks.push(
      block(
        blocks.length,
        null,
        pieces(step.text, step.pieces).map((text) => ({ text })),
      ),
    );
  for (const [place, call] of (step.calls ?? []).entries())
    blocks.push(
      block(
        blocks.length,
        { toolUse: { toolUseId: callId(request, call, place), name: call.name } },
        pieces(argumentsText(call), step.pieces).map((input) => ({ toolUse: { input } })),
      ),
    );
  return blocks.flat();
}

function bedrockEvents(step: FakeStep, request: FakeRequest): Buffer[] {
  const usage = step.usage === undefined ? USAGE : step.usage;
  const cached = usage?.cached ?? 0;
  const created = usage?.created ?? 0;
  const metadata: JsonObject = { metrics: { latencyMs: 1 } };
  if (usage !== null)
    metadata.usage = {
      inputTokens: usage.input - cached - created,
      outputTokens: usage.output,
      totalTokens: usage.input + usage.output,
      cacheReadInputTokens: cached,
      cacheWriteInputTokens: created,
    };
  return [
    say('messageStart', { role: 'assistant' }),
    ...(step.junk ?? []).map((payload) => modelEvent('news', payload)),
    ...bedrockBlocks(step, request),
    say('messageStop', { stopReason: step.stop ?? (step.calls?.length ? 'tool_use' : 'end_turn') }),
    say('metadata', metadata),
  ];
}

/** The events of the whole answer in order; the last one is the terminal marker. */
export function eventsOf(step: FakeStep, request: FakeRequest): Buffer[] {
  if (step.raw !== undefined) {
    const parts = typeof step.raw === 'string' || Buffer.isBuffer(step.raw) ? [step.raw] : step.raw;
    return parts.map((part) => Buffer.from(part));
  }
  const { dialect } = request;
  if (dialect === 'bedrock') return bedrockEvents(step, request);
  return textEvents(dialect, step, request).map((event) => Buffer.from(event));
}

/** Exceptions of Bedrock that stand for what the others call by these names. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  overloaded_error: 'serviceUnavailableException',
  rate_limit_error: 'throttlingException',
  invalid_request_error: 'validationException',
};

export function errorEvent(dialect: Dialect, type: string, message: string): Buffer {
  if (dialect !== 'bedrock') return Buffer.from(textError(dialect, type, message));
  const exception = EXCEPTIONS[type];
  if (exception === undefined)
    return eventStreamMessage(
      { ':message-type': 'error', ':error-code': type, ':error-message': message },
      '',
    );
  return eventStreamMessage(
    { ':message-type': 'exception', ':exception-type': exception, ':content-type': 'application/json' },
    JSON.stringify({ message }),
  );
}

const HALF_EVENT = Buffer.from('data: {"choices":[{"index":0,"delta":{"con');

export function halfEvent(dialect: Dialect): Buffer {
  return dialect === 'bedrock'
    ? say('contentBlockDelta', { contentBlockIndex: 0 }).subarray(0, 40)
    : HALF_EVENT;
}

/** What says nothing but that the connection lives. */
export function pingOf(dialect: Dialect): Buffer {
  return dialect === 'bedrock' ? modelEvent('ping', '{}') : Buffer.from(': ping\n\n');
}

export function streamType(dialect: Dialect): string {
  return dialect === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream; charset=utf-8';
}
