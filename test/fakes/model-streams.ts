// Turns a step into the events of a streamed answer, in the words of each dialect.
import type { JsonObject } from '../../shared/json.js';
import type { FakeCall, FakeRequest, FakeStep, FakeUsage } from './model-steps.js';

const USAGE: FakeUsage = { input: 100, output: 20 };

function pieces(text: string, size: number | undefined): string[] {
  if (text === '') return [];
  if (size === undefined || size >= text.length) return [text];
  const found: string[] = [];
  for (let start = 0; start < text.length; start += size) found.push(text.slice(start, start + size));
  return found;
}

function argumentsText(call: FakeCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}

function modelOf(step: FakeStep, request: FakeRequest): string {
  return step.model ?? (typeof request.body.model === 'string' ? request.body.model : 'fake');
}

function callId(request: FakeRequest, call: FakeCall, index: number): string {
  return call.id ?? `call_${request.index}_${index}`;
}

function openaiUsage(usage: FakeUsage): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
  };
}

function openaiEvents(step: FakeStep, request: FakeRequest): string[] {
  const head = `data: {"id":"chatcmpl-${request.index}","object":"chat.completion.chunk","created":1,"model":${JSON.stringify(modelOf(step, request))},`;
  const chunk = (delta: string, finish = 'null'): string =>
    `${head}"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;
  const events = [chunk('{"role":"assistant","content":""}')];
  for (const piece of pieces(step.reasoning ?? '', step.pieces))
    events.push(chunk(`{"reasoning_content":${JSON.stringify(piece)}}`));
  for (const piece of pieces(step.text ?? '', step.pieces))
    events.push(chunk(`{"content":${JSON.stringify(piece)}}`));
  for (const [index, call] of (step.calls ?? []).entries()) {
    const id = JSON.stringify(callId(request, call, index));
    const name = JSON.stringify(call.name);
    events.push(
      chunk(
        `{"tool_calls":[{"index":${index},"id":${id},"type":"function","function":{"name":${name},"arguments":""}}]}`,
      ),
    );
    for (const piece of pieces(argumentsText(call), step.pieces))
      events.push(
        chunk(`{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(piece)}}}]}`),
      );
  }
  const stop = step.stop ?? (step.calls?.length ? 'tool_calls' : 'stop');
  events.push(chunk('{}', JSON.stringify(stop)));
  const options = request.body.stream_options;
  const asked = typeof options === 'object' && options !== null && !Array.isArray(options);
  const usage = step.usage === undefined ? USAGE : step.usage;
  if (asked && options.include_usage === true && usage !== null)
    events.push(`${head}"choices":[],"usage":${JSON.stringify(openaiUsage(usage))}}\n\n`);
  events.push('data: [DONE]\n\n');
  return events;
}

function anthropicEvent(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function anthropicBlock(index: number, start: JsonObject, deltas: readonly JsonObject[]): string[] {
  return [
    anthropicEvent('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => anthropicEvent('content_block_delta', { index, delta })),
    anthropicEvent('content_block_stop', { index }),
  ];
}

function anthropicBlocks(step: FakeStep, request: FakeRequest): string[] {
  const events: string[] = [];
  let index = 0;
  const add = (start: JsonObject, deltas: readonly JsonObject[]): void => {
    events.push(...anthropicBlock(index, start, deltas));
    index += 1;
  };
  if (step.reasoning !== undefined) {
    const deltas: JsonObject[] = pieces(step.reasoning, step.pieces).map((thinking) => ({
      type: 'thinking_delta',
      thinking,
    }));
    const signature = step.signature === undefined ? 'signed-by-the-fake' : step.signature;
    if (signature !== null) deltas.push({ type: 'signature_delta', signature });
    add({ type: 'thinking', thinking: '', signature: '' }, deltas);
  }
  if (step.text !== undefined)
    add(
      { type: 'text', text: '' },
      pieces(step.text, step.pieces).map((text) => ({ type: 'text_delta', text })),
    );
  for (const [place, call] of (step.calls ?? []).entries())
    add(
      { type: 'tool_use', id: callId(request, call, place), name: call.name, input: {} },
      pieces(argumentsText(call), step.pieces).map((part) => ({
        type: 'input_json_delta',
        partial_json: part,
      })),
    );
  return events;
}

function anthropicEvents(step: FakeStep, request: FakeRequest): string[] {
  const usage = step.usage === undefined ? USAGE : step.usage;
  const cached = usage?.cached ?? 0;
  const created = usage?.created ?? 0;
  const start: JsonObject = {
    id: `msg_${request.index}`,
    type: 'message',
    role: 'assistant',
    model: modelOf(step, request),
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  if (usage !== null)
    start.usage = {
      input_tokens: usage.input - cached - created,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: created,
      output_tokens: 1,
    };
  const end: JsonObject = {
    delta: {
      stop_reason: step.stop ?? (step.calls?.length ? 'tool_use' : 'end_turn'),
      stop_sequence: null,
    },
  };
  if (usage !== null) end.usage = { output_tokens: usage.output };
  return [
    anthropicEvent('message_start', { message: start }),
    ...anthropicBlocks(step, request),
    anthropicEvent('message_delta', end),
    anthropicEvent('message_stop', {}),
  ];
}

/** The events of the whole answer, each with its blank line, in order; the last one is the terminal marker. */
export function eventsOf(step: FakeStep, request: FakeRequest): string[] {
  const events = request.dialect === 'openai' ? openaiEvents(step, request) : anthropicEvents(step, request);
  if (step.junk !== undefined) events.splice(1, 0, ...step.junk.map((payload) => `data: ${payload}\n\n`));
  return events;
}

export function errorEvent(dialect: FakeRequest['dialect'], type: string, message: string): string {
  return dialect === 'openai'
    ? `data: ${JSON.stringify({ error: { message, type, code: type } })}\n\n`
    : anthropicEvent('error', { error: { type, message } });
}
