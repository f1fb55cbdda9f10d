// Reads a messages stream: content blocks by index, thinking with its signature, stop reason, numbers. Blocks and
// events it does not know are left alone; the answer is complete only with `message_stop`.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Usage } from '../../shared/transcript/usage.js';
import { AnswerDraft, rawCalls } from './answer-draft.js';
import type { AnswerReader, Reading, Refusal } from './dialect.js';
import type { ModelAnswer, ModelEvent, StopReason } from './provider.js';
import { refusalOf } from './refusals.js';
import { isObject, payload, TextJoin, textOf, tokenCount, usageFrom } from './wire-text.js';

const STOPS: Readonly<Record<string, StopReason>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
};

interface Block {
  readonly index: number | null;
  readonly type: string;
  readonly id: string;
  readonly name: string;
  /** Sealed thinking, passed back as it is. */
  readonly data: string;
  readonly thinking: TextJoin;
  signature: string;
  argumentsText: string;
  closed: boolean;
}

interface Counts {
  input: number | null;
  read: number;
  created: number;
  output: number | null;
}

function blockOf(index: number | null, start: JsonObject): Block {
  const input = isObject(start.input) && Object.keys(start.input).length > 0 ? start.input : null;
  return {
    index,
    type: textOf(start.type),
    id: textOf(start.id),
    name: textOf(start.name),
    data: textOf(start.data),
    thinking: new TextJoin(),
    signature: textOf(start.signature),
    argumentsText: input === null ? '' : JSON.stringify(input),
    closed: false,
  };
}

function reasoningPart(block: Block): JsonValue[] {
  if (!block.closed) return [];
  if (block.type === 'redacted_thinking' && block.data !== '')
    return [{ type: block.type, data: wellFormed(block.data) }];
  if (block.type === 'thinking' && block.signature !== '')
    return [{ type: block.type, thinking: block.thinking.text, signature: wellFormed(block.signature) }];
  return [];
}

export class AnthropicReader implements AnswerReader {
  failure: Refusal | null = null;
  complete = false;
  readonly #draft: AnswerDraft;
  readonly #blocks: Block[] = [];
  readonly #counts: Counts = { input: null, read: 0, created: 0, output: null };
  #stopReason = '';

  constructor(onEvent: (event: ModelEvent) => void) {
    this.#draft = new AnswerDraft(onEvent);
  }

  get streamed(): boolean {
    return this.#draft.streamed;
  }

  take(data: string): Reading {
    const event = payload(data);
    if (event === null) return 'nothing';
    switch (event.type) {
      case 'message_start':
        if (isObject(event.message)) {
          this.#draft.nameModel(event.message.model);
          this.#count(event.message.usage);
        }
        return 'nothing';
      case 'content_block_start':
        return this.#start(event);
      case 'content_block_delta':
        return this.#delta(event);
      case 'content_block_stop':
        return this.#stopBlock(event);
      case 'message_delta':
        if (isObject(event.delta)) this.#stopReason = textOf(event.delta.stop_reason) || this.#stopReason;
        this.#count(event.usage);
        return 'content';
      case 'message_stop':
        this.complete = true;
        return 'done';
      case 'ping':
        return 'ping';
      case 'error':
        this.failure = refusalOf(200, event);
        return 'failed';
      default:
        return 'nothing';
    }
  }

  usage(): Usage | null {
    const { input, output, read, created } = this.#counts;
    // The provider counts what it read from and wrote to its cache apart; our input is all of it.
    return usageFrom({
      input: input === null ? null : input + read + created,
      output,
      cached: read,
      written: created,
    });
  }

  answer(fallbackModel: string): ModelAnswer {
    this.#draft.endText();
    for (const block of this.#blocks) this.#draft.endReasoning(block.thinking);
    return {
      text: this.#draft.text,
      calls: rawCalls(this.#blocks.filter((block) => block.type === 'tool_use')),
      reasoning: this.#blocks.flatMap(reasoningPart),
      stop: STOPS[this.#stopReason] ?? 'other',
      usage: this.usage(),
      model: this.#draft.model(fallbackModel),
    };
  }

  #count(value: JsonValue | undefined): void {
    if (!isObject(value)) return;
    const counts = this.#counts;
    counts.input = tokenCount(value.input_tokens) ?? counts.input;
    counts.read = tokenCount(value.cache_read_input_tokens) ?? counts.read;
    counts.created = tokenCount(value.cache_creation_input_tokens) ?? counts.created;
    counts.output = tokenCount(value.output_tokens) ?? counts.output;
  }

  #start(event: JsonObject): Reading {
    if (!isObject(event.content_block)) return 'nothing';
    const start = event.content_block;
    const block = blockOf(tokenCount(event.index), start);
    this.#blocks.push(block);
    this.#draft.grow(block.argumentsText);
    this.#draft.grow(block.data);
    if (block.type === 'tool_use') this.#draft.streamed = true;
    if (block.type === 'text') this.#draft.addText(textOf(start.text));
    if (block.type === 'thinking') this.#draft.addReasoning(block.thinking, textOf(start.thinking));
    return this.#sized();
  }

  #delta(event: JsonObject): Reading {
    const index = tokenCount(event.index);
    const block = this.#blocks.findLast((each) => each.index === index);
    if (block === undefined || !isObject(event.delta)) return 'nothing';
    const { delta } = event;
    switch (delta.type) {
      case 'text_delta':
        this.#draft.addText(textOf(delta.text));
        break;
      case 'thinking_delta':
        this.#draft.addReasoning(block.thinking, textOf(delta.thinking));
        break;
      case 'signature_delta':
        block.signature += textOf(delta.signature);
        break;
      case 'input_json_delta':
        block.argumentsText += textOf(delta.partial_json);
        this.#draft.grow(textOf(delta.partial_json));
        break;
      default:
        return 'nothing';
    }
    return this.#sized();
  }

  #stopBlock(event: JsonObject): Reading {
    const index = tokenCount(event.index);
    const block = this.#blocks.findLast((each) => each.index === index);
    if (block === undefined) return 'nothing';
    this.#draft.endReasoning(block.thinking);
    block.closed = true;
    return 'content';
  }

  #sized(): Reading {
    this.failure = this.#draft.excess;
    return this.failure === null ? 'content' : 'failed';
  }
}
