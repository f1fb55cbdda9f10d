// Turns a step into the events of a streamed answer, in the words of each dialect that speaks server-sent events, and
// gives the others what they share.
import type { JsonObject } from '../../shared/json.js';
import type { FakeCall, FakeRequest, FakeStep, FakeUsage } from './model-steps.js';

export const USAGE: FakeUsage = { input: 100, output: 20 };

export function pieces(text: string, size: number | undefined): string[] {
  if (text === '') return [];
  if (size === undefined || size >= text.length) return [text];
  const found: string[] = [];
  for (let start = 0; start < text.length; start += size) found.push(text.slice(start, start + size));
  return found;
}

export function argumentsText(call: FakeCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}

function modelOf(step: FakeStep, request: FakeRequest): string {
  return step.model ?? (typeof request.body.model === 'string' ? request.body.model : 'fake');
}

export function callId(request: FakeRequest, call: FakeCall, index: number): string {
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

function typedEvent(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function anthropicBlock(index: number, start: JsonObject, deltas: readonly JsonObject[]): string[] {
  return [
    typedEvent('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => typedEvent('content_block_delta', { index, delta })),
    typedEvent('content_block_stop', { index }),
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
    typedEvent('message_start', { message: start }),
    ...anthropicBlocks(step, request),
    typedEvent('message_delta', end),
    typedEvent('message_stop', {}),
  ];
}

function responsesItems(step: FakeStep, request: FakeRequest): string[] {
  const events: string[] = [];
  let index = 0;
  const add = (item: JsonObject, deltas: readonly string[], done: JsonObject): void => {
    const at = { output_index: index, item_id: item.id ?? '' };
    events.push(typedEvent('response.output_item.added', { output_index: index, item }));
    events.push(...deltas.map((delta) => typedEvent(String(done.deltas), { ...at, delta })));
    const { deltas: _, ...whole } = done;
    events.push(
      typedEvent('response.output_item.done', { output_index: index, item: { ...item, ...whole } }),
    );
    index += 1;
  };
  if (step.reasoning !== undefined)
    add({ type: 'reasoning', id: `rs_${request.index}`, summary: [] }, pieces(step.reasoning, step.pieces), {
      deltas: 'response.reasoning_summary_text.delta',
      summary: [{ type: 'summary_text', text: step.reasoning }],
      ...(step.signature === null ? {} : { encrypted_content: step.signature ?? 'sealed-by-the-fake' }),
    });
  if (step.text !== undefined)
    add({ type: 'message', id: `msg_${request.index}`, role: 'assistant' }, pieces(step.text, step.pieces), {
      deltas: 'response.output_text.delta',
      content: [{ type: 'output_text', text: step.text, annotations: [] }],
    });
  for (const [place, call] of (step.calls ?? []).entries())
    add(
      {
        type: 'function_call',
        id: `fc_${request.index}_${place}`,
        call_id: callId(request, call, place),
        name: call.name,
        arguments: '',
      },
      pieces(argumentsText(call), step.pieces),
      { deltas: 'response.function_call_arguments.delta', arguments: argumentsText(call) },
    );
  return events;
}

function responsesEvents(step: FakeStep, request: FakeRequest): string[] {
  const usage = step.usage === undefined ? USAGE : step.usage;
  const response: JsonObject = {
    id: `resp_${request.index}`,
    object: 'response',
    model: modelOf(step, request),
  };
  const whole: JsonObject = { ...response, status: step.stop === undefined ? 'completed' : 'incomplete' };
  if (step.stop !== undefined) whole.incomplete_details = { reason: step.stop };
  if (usage !== null)
    whole.usage = {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached ?? 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    };
  return [
    typedEvent('response.created', { response: { ...response, status: 'in_progress' } }),
    ...responsesItems(step, request),
    typedEvent(`response.${whole.status}`, { response: whole }),
  ];
}

type SpeaksText = Exclude<FakeRequest['dialect'], 'bedrock'>;

const EVENTS: Readonly<Record<SpeaksText, (step: FakeStep, request: FakeRequest) => string[]>> = {
  openai: openaiEvents,
  openai_responses: responsesEvents,
  anthropic: anthropicEvents,
};

/** The events of the whole answer, each with its blank line, in order; the last one is the terminal marker. */
export function textEvents(dialect: SpeaksText, step: FakeStep, request: FakeRequest): string[] {
  const events = EVENTS[dialect](step, request);
  if (step.junk !== undefined) events.splice(1, 0, ...step.junk.map((payload) => `data: ${payload}\n\n`));
  return events;
}

export function textError(dialect: SpeaksText, type: string, message: string): string {
  if (dialect === 'openai') return `data: ${JSON.stringify({ error: { message, type, code: type } })}\n\n`;
  return dialect === 'anthropic'
    ? typedEvent('error', { error: { type, message } })
    : typedEvent('error', { code: type, message, param: null });
}
