// Reads a chat-completions stream: text, reasoning, calls by index, stop reason, numbers. Tolerates what servers that
// only nearly speak the dialect send; what it cannot use it leaves alone, and arguments stay as they came.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { Usage } from '../../shared/transcript/usage.js';
import { AnswerDraft, rawCalls } from './answer-draft.js';
import type { AnswerReader, Reading, Refusal } from './dialect.js';
import type { ModelAnswer, ModelEvent, StopReason } from './provider.js';
import { refusalOf } from './refusals.js';
import { isObject, payload, TextJoin, textOf, tokenCount, usageFrom } from './wire-text.js';

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
  const details = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  return usageFrom({
    input: tokenCount(value.prompt_tokens),
    output: tokenCount(value.completion_tokens),
    cached: tokenCount(details.cached_tokens) ?? tokenCount(value.prompt_cache_hit_tokens) ?? 0,
  });
}

/** Content is a string; some servers send a list of parts. */
function contentText(value: JsonValue | undefined): string {
  if (!Array.isArray(value)) return textOf(value);
  return value.map((part) => (isObject(part) ? textOf(part.text) : '')).join('');
}

export class OpenaiReader implements AnswerReader {
  failure: Refusal | null = null;
  readonly #draft: AnswerDraft;
  readonly #reasoning = new TextJoin();
  readonly #calls: CallInWriting[] = [];
  #finish: string | null = null;
  #ended = false;
  #refused = false;
  #usage: Usage | null = null;

  constructor(onEvent: (event: ModelEvent) => void) {
    this.#draft = new AnswerDraft(onEvent);
  }

  get streamed(): boolean {
    return this.#draft.streamed;
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
    this.#draft.nameModel(chunk.model);
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isObject(choice)) return this.#finish === null ? 'nothing' : 'last';
    const moved = isObject(choice.delta) && this.#delta(choice.delta);
    this.failure = this.#draft.excess;
    if (this.failure !== null) return 'failed';
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
    this.#draft.endReasoning(this.#reasoning);
    this.#draft.endText();
    const calls = rawCalls(this.#calls);
    const thought = this.#reasoning.text;
    return {
      text: this.#draft.text,
      calls,
      // Some models that reason between calls refuse the next request without it; others ignore it.
      reasoning: thought === '' || calls.length === 0 ? [] : [{ reasoning_content: thought }],
      stop: this.#stop(),
      usage: this.#usage,
      model: this.#draft.model(fallbackModel),
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
    if (thought !== '') this.#draft.addReasoning(this.#reasoning, thought);
    if (text !== '') this.#draft.addText(text);
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
    this.#draft.grow(part);
    this.#draft.streamed = true;
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
}
