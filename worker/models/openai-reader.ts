// Reads a chat-completions stream: text, reasoning, calls by index, stop reason, numbers. Tolerates what servers that
// only nearly speak the dialect send; what it cannot use it leaves alone, and arguments stay as they came.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Usage } from '../../shared/transcript/usage.js';
import type { AnswerReader, Reading, Refusal } from './dialect.js';
import type { ModelAnswer, ModelEvent, StopReason } from './provider.js';
import { refusalOf } from './refusals.js';
import {
  ANSWER_BYTES_MAX,
  distinctIds,
  isObject,
  payload,
  TextJoin,
  textOf,
  tokenCount,
} from './wire-text.js';

const STOPS: Readonly<Record<string, StopReason>> = {
  stop: 'end',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  content_filter: 'refusal',
};

interface CallInWriting {
  readonly index: number | null;
  readonly id: string;
  name: string;
  argumentsText: string;
}

function usageOf(value: JsonValue | undefined): Usage | null {
  if (!isObject(value)) return null;
  const input = tokenCount(value.prompt_tokens);
  const output = tokenCount(value.completion_tokens);
  // No request has an empty input: two zeros are a server that does not count.
  if (input === null || output === null || input + output === 0) return null;
  const details = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const cached = tokenCount(details.cached_tokens) ?? tokenCount(value.prompt_cache_hit_tokens) ?? 0;
  return {
    input_tokens: input,
    output_tokens: output,
    cached_tokens: Math.min(cached, input),
    estimated: false,
  };
}

/** Content is a string; some servers send a list of parts. */
function contentText(value: JsonValue | undefined): string {
  if (!Array.isArray(value)) return textOf(value);
  return value.map((part) => (isObject(part) ? textOf(part.text) : '')).join('');
}

export class OpenaiReader implements AnswerReader {
  failure: Refusal | null = null;
  streamed = false;
  readonly #onEvent: (event: ModelEvent) => void;
  readonly #text = new TextJoin();
  readonly #reasoning = new TextJoin();
  readonly #calls: CallInWriting[] = [];
  #size = 0;
  #finish: string | null = null;
  #ended = false;
  #refused = false;
  #usage: Usage | null = null;
  #model = '';

  constructor(onEvent: (event: ModelEvent) => void) {
    this.#onEvent = onEvent;
  }

  get complete(): boolean {
    return this.#ended || this.#finish !== null;
  }

  take(data: string): Reading {
    if (data.trim() === '[DONE]') {
      this.#ended = true;
      return 'done';
    }
    const chunk = payload(data);
    if (chunk === null) return 'nothing';
    if (chunk.error !== undefined && chunk.error !== null) {
      this.failure = refusalOf(200, chunk);
      return 'failed';
    }
    this.#usage = usageOf(chunk.usage) ?? this.#usage;
    if (this.#model === '') this.#model = textOf(chunk.model);
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isObject(choice)) return this.#finish === null ? 'nothing' : 'last';
    const moved = isObject(choice.delta) && this.#delta(choice.delta);
    if (this.#size > ANSWER_BYTES_MAX) {
      this.failure = { status: 200, type: 'answer_too_large', code: '', param: '', message: '' };
      return 'failed';
    }
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') {
      this.#finish = choice.finish_reason;
      return 'last';
    }
    return moved ? 'content' : 'nothing';
  }

  usage(): Usage | null {
    return this.#usage;
  }

  answer(fallbackModel: string): ModelAnswer {
    this.#tell('reasoning', this.#reasoning.end());
    this.#tell('text', this.#text.end());
    const ids = distinctIds(this.#calls.map((call) => call.id));
    const calls = this.#calls.map((call, index) => ({
      provider_id: ids[index] ?? '',
      wire_name: wellFormed(call.name),
      arguments_text: wellFormed(call.argumentsText),
    }));
    const thought = this.#reasoning.text;
    return {
      text: this.#text.text,
      calls,
      // Some models that reason between calls refuse the next request without it; others ignore it.
      reasoning: thought === '' || calls.length === 0 ? [] : [{ reasoning_content: thought }],
      stop: this.#stop(),
      usage: this.#usage,
      model: this.#model === '' ? fallbackModel : wellFormed(this.#model).slice(0, 200),
    };
  }

  #stop(): StopReason {
    if (this.#refused) return 'refusal';
    return STOPS[this.#finish ?? ''] ?? 'other';
  }

  #delta(delta: JsonObject): boolean {
    const thought = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    const refusal = textOf(delta.refusal);
    const text = contentText(delta.content) + refusal;
    this.#refused ||= refusal !== '';
    if (thought !== '') this.#tell('reasoning', this.#reasoning.push(thought));
    if (text !== '') this.#tell('text', this.#text.push(text));
    this.#size += Buffer.byteLength(thought) + Buffer.byteLength(text);
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls.filter(isObject) : [];
    for (const call of calls) this.#callDelta(call);
    return thought !== '' || text !== '' || calls.length > 0;
  }

  #callDelta(delta: JsonObject): void {
    const index = tokenCount(delta.index);
    const id = textOf(delta.id);
    const fn = isObject(delta.function) ? delta.function : {};
    const name = textOf(fn.name);
    let call = this.#callFor(index, id, name);
    if (call === undefined) {
      call = { index, id, name: '', argumentsText: '' };
      this.#calls.push(call);
    }
    if (call.name === '') call.name = name;
    // A few servers send the arguments parsed.
    const part = isObject(fn.arguments) ? JSON.stringify(fn.arguments) : textOf(fn.arguments);
    call.argumentsText += part;
    this.#size += Buffer.byteLength(part);
    this.streamed = true;
  }

  /** By index; a new id together with a name starts a new call, because some servers number every call 0. */
  #callFor(index: number | null, id: string, name: string): CallInWriting | undefined {
    const known =
      index === null
        ? id === ''
          ? this.#calls.at(-1)
          : this.#calls.find((call) => call.id === id)
        : this.#calls.findLast((call) => call.index === index);
    if (known === undefined) return undefined;
    const another = id !== '' && known.id !== '' && id !== known.id && name !== '';
    return another ? undefined : known;
  }

  #tell(kind: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    this.streamed = true;
    this.#onEvent({ kind, text });
  }
}
