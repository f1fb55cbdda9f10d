// Reads a stream of the responses dialect: output items by index, text and refusals, sealed reasoning, numbers. What
// an item says when it is done counts more than its deltas, because some servers send only one of the two.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { mapJsonText, wellFormed } from '../../shared/transcript/unicode.js';
import type { Usage } from '../../shared/transcript/usage.js';
import { AnswerDraft, rawCalls } from './answer-draft.js';
import type { AnswerReader, Reading, Refusal } from './dialect.js';
import type { ModelAnswer, ModelEvent, StopReason } from './provider.js';
import { refusalOf } from './refusals.js';
import { isObject, payload, TextJoin, textOf, tokenCount, usageFrom } from './wire-text.js';

const CUT: Readonly<Record<string, StopReason>> = { max_output_tokens: 'length', content_filter: 'refusal' };

interface Item {
  readonly index: number | null;
  /** The provider's id of the item, not of the call. */
  readonly itemId: string;
  readonly type: string;
  readonly thinking: TextJoin;
  callId: string;
  name: string;
  argumentsText: string;
  /** Whether any of its text came. */
  told: boolean;
  /** A finished reasoning item, as it is sent back. */
  sealed: JsonObject | null;
}

function usageOf(value: JsonValue | undefined): Usage | null {
  if (!isObject(value)) return null;
  const details = isObject(value.input_tokens_details) ? value.input_tokens_details : {};
  return usageFrom({
    input: tokenCount(value.input_tokens),
    output: tokenCount(value.output_tokens),
    cached: tokenCount(details.cached_tokens) ?? 0,
  });
}

function sealedReasoning(item: JsonObject): JsonObject | null {
  if (textOf(item.encrypted_content) === '') return null;
  const { id, summary, encrypted_content } = item;
  return {
    type: 'reasoning',
    ...(typeof id === 'string' ? { id } : {}),
    summary: Array.isArray(summary) ? summary : [],
    encrypted_content: encrypted_content ?? '',
  };
}

function parts(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export class ResponsesReader implements AnswerReader {
  failure: Refusal | null = null;
  complete = false;
  readonly #draft: AnswerDraft;
  readonly #items: Item[] = [];
  #usage: Usage | null = null;
  #refused = false;
  /** Why the provider stopped early; null when it did not. */
  #cut: string | null = null;

  constructor(onEvent: (event: ModelEvent) => void) {
    this.#draft = new AnswerDraft(onEvent);
  }

  get streamed(): boolean {
    return this.#draft.streamed;
  }

  take(data: string): Reading {
    const event = payload(data);
    if (event === null) return 'nothing';
    const response = isObject(event.response) ? event.response : {};
    this.#draft.nameModel(response.model);
    this.#usage = usageOf(response.usage) ?? this.#usage;
    switch (event.type) {
      case 'response.completed':
        this.complete = true;
        return 'done';
      case 'response.incomplete':
        this.#cut = isObject(response.incomplete_details) ? textOf(response.incomplete_details.reason) : '';
        this.complete = true;
        return 'done';
      case 'response.failed':
        this.failure = refusalOf(200, { error: response.error ?? {} });
        return 'failed';
      case 'error':
        this.failure = refusalOf(200, event);
        return 'failed';
      case 'keepalive':
        return 'ping';
      default:
        return this.#progress(event);
    }
  }

  usage(): Usage | null {
    return this.#usage;
  }

  answer(fallbackModel: string): ModelAnswer {
    for (const item of this.#items) this.#draft.endReasoning(item.thinking);
    this.#draft.endText();
    const calls = this.#items.filter((item) => item.type === 'function_call');
    return {
      text: this.#draft.text,
      calls: rawCalls(calls.map((call) => ({ ...call, id: call.callId }))),
      reasoning: this.#items.flatMap(({ sealed }) =>
        sealed === null ? [] : [mapJsonText(sealed, wellFormed)],
      ),
      stop: this.#stop(calls.length > 0),
      usage: this.#usage,
      model: this.#draft.model(fallbackModel),
    };
  }

  #stop(calls: boolean): StopReason {
    if (this.#refused) return 'refusal';
    if (this.#cut !== null) return CUT[this.#cut] ?? 'other';
    return calls ? 'tool_calls' : 'end';
  }

  #progress(event: JsonObject): Reading {
    switch (event.type) {
      case 'response.output_item.added':
        if (!isObject(event.item)) return 'nothing';
        this.#itemOf(event, event.item);
        break;
      case 'response.output_item.done':
        if (!isObject(event.item)) return 'nothing';
        this.#finish(this.#itemOf(event, event.item), event.item);
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#refused ||= event.type === 'response.refusal.delta';
        this.#itemOf(event, { type: 'message' }).told = true;
        this.#draft.addText(textOf(event.delta));
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#draft.addReasoning(this.#itemOf(event, { type: 'reasoning' }).thinking, textOf(event.delta));
        break;
      case 'response.function_call_arguments.delta':
        this.#itemOf(event, { type: 'function_call' }).argumentsText += textOf(event.delta);
        this.#draft.grow(textOf(event.delta));
        break;
      case 'response.function_call_arguments.done':
        this.#takeArguments(this.#itemOf(event, { type: 'function_call' }), event.arguments);
        break;
      default:
        return 'nothing';
    }
    this.failure = this.#draft.excess;
    return this.failure === null ? 'content' : 'failed';
  }

  /** By index, else by id; an item that nobody announced begins with what is known of it. */
  #itemOf(event: JsonObject, start: JsonObject): Item {
    const index = tokenCount(event.output_index);
    const itemId = textOf(event.item_id) || textOf(start.id);
    const known = this.#items.findLast((item) =>
      index === null ? itemId !== '' && item.itemId === itemId : item.index === index,
    );
    if (known !== undefined) return known;
    const item: Item = {
      index,
      itemId,
      type: textOf(start.type),
      thinking: new TextJoin(),
      callId: textOf(start.call_id),
      name: textOf(start.name),
      argumentsText: textOf(start.arguments),
      told: false,
      sealed: null,
    };
    this.#items.push(item);
    this.#draft.grow(item.argumentsText);
    if (item.type === 'function_call') this.#draft.streamed = true;
    return item;
  }

  #takeArguments(item: Item, whole: JsonValue | undefined): void {
    if (typeof whole !== 'string' || whole === item.argumentsText) return;
    this.#draft.grow(whole.startsWith(item.argumentsText) ? whole.slice(item.argumentsText.length) : whole);
    item.argumentsText = whole;
  }

  #finish(item: Item, whole: JsonObject): void {
    if (item.type === 'function_call') {
      item.callId ||= textOf(whole.call_id);
      item.name ||= textOf(whole.name);
      this.#takeArguments(item, whole.arguments);
    } else if (item.type === 'reasoning') {
      this.#draft.endReasoning(item.thinking);
      item.sealed = sealedReasoning(whole);
      this.#draft.grow(textOf(whole.encrypted_content));
    } else if (item.type === 'message' && !item.told) {
      for (const part of parts(whole.content)) {
        this.#refused ||= part.type === 'refusal';
        this.#draft.addText(part.type === 'refusal' ? textOf(part.refusal) : textOf(part.text));
      }
    }
  }
}
