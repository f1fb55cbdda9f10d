// Reads a Converse stream: content blocks by index, reasoning with its signature, stop reason, numbers. The numbers
// come after the stop reason; an answer without them is whole nevertheless.
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
  guardrail_intervened: 'refusal',
  content_filtered: 'refusal',
};

interface Block {
  readonly index: number | null;
  /** Set where the block is a call. */
  readonly call: boolean;
  readonly id: string;
  readonly name: string;
  readonly thinking: TextJoin;
  signature: string;
  /** Reasoning that the provider sealed itself, passed back as it is. */
  redacted: string;
  argumentsText: string;
  closed: boolean;
}

function usageOf(value: JsonValue | undefined): Usage | null {
  if (!isObject(value)) return null;
  const input = tokenCount(value.inputTokens);
  const read = tokenCount(value.cacheReadInputTokens) ?? 0;
  const created = tokenCount(value.cacheWriteInputTokens) ?? 0;
  // The provider counts what it read from and wrote to its cache apart; our input is all of it.
  return usageFrom({
    input: input === null ? null : input + read + created,
    output: tokenCount(value.outputTokens),
    cached: read,
    written: created,
  });
}

function reasoningPart(block: Block): JsonValue[] {
  if (!block.closed) return [];
  if (block.redacted !== '') return [{ reasoningContent: { redactedContent: wellFormed(block.redacted) } }];
  if (block.signature === '') return [];
  const reasoningText = { text: block.thinking.text, signature: wellFormed(block.signature) };
  return [{ reasoningContent: { reasoningText } }];
}

export class BedrockReader implements AnswerReader {
  failure: Refusal | null = null;
  complete = false;
  readonly #draft: AnswerDraft;
  readonly #blocks: Block[] = [];
  #usage: Usage | null = null;
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
    if (event.error !== undefined) {
      this.failure = refusalOf(200, { error: event.error }, textOf(event.type));
      return 'failed';
    }
    if (isObject(event.contentBlockStart)) return this.#start(event.contentBlockStart);
    if (isObject(event.contentBlockDelta)) return this.#delta(event.contentBlockDelta);
    if (isObject(event.contentBlockStop)) return this.#close(event.contentBlockStop);
    if (isObject(event.messageStop)) {
      this.#stopReason = textOf(event.messageStop.stopReason);
      this.complete = true;
      return 'last';
    }
    if (isObject(event.metadata)) {
      this.#usage = usageOf(event.metadata.usage) ?? this.#usage;
      return this.complete ? 'done' : 'nothing';
    }
    return 'nothing';
  }

  usage(): Usage | null {
    return this.#usage;
  }

  answer(fallbackModel: string): ModelAnswer {
    this.#draft.endText();
    for (const block of this.#blocks) this.#draft.endReasoning(block.thinking);
    return {
      text: this.#draft.text,
      calls: rawCalls(this.#blocks.filter((block) => block.call)),
      reasoning: this.#blocks.flatMap(reasoningPart),
      stop: STOPS[this.#stopReason] ?? 'other',
      usage: this.#usage,
      // The stream does not name its model.
      model: this.#draft.model(fallbackModel),
    };
  }

  #start(event: JsonObject): Reading {
    const tool = isObject(event.start) && isObject(event.start.toolUse) ? event.start.toolUse : null;
    this.#open(tokenCount(event.contentBlockIndex), tool);
    if (tool !== null) this.#draft.streamed = true;
    return 'content';
  }

  #open(index: number | null, tool: JsonObject | null): Block {
    const block: Block = {
      index,
      call: tool !== null,
      id: textOf(tool?.toolUseId),
      name: textOf(tool?.name),
      thinking: new TextJoin(),
      signature: '',
      redacted: '',
      argumentsText: '',
      closed: false,
    };
    this.#blocks.push(block);
    return block;
  }

  /** Blocks of text and reasoning begin with their first delta. */
  #delta(event: JsonObject): Reading {
    if (!isObject(event.delta)) return 'nothing';
    const { delta } = event;
    const index = tokenCount(event.contentBlockIndex);
    const block = this.#blocks.findLast((each) => each.index === index) ?? this.#open(index, null);
    if (typeof delta.text === 'string') this.#draft.addText(delta.text);
    else if (isObject(delta.toolUse)) {
      block.argumentsText += textOf(delta.toolUse.input);
      this.#draft.grow(textOf(delta.toolUse.input));
    } else if (isObject(delta.reasoningContent)) this.#reason(block, delta.reasoningContent);
    else return 'nothing';
    this.failure = this.#draft.excess;
    return this.failure === null ? 'content' : 'failed';
  }

  #reason(block: Block, content: JsonObject): void {
    this.#draft.addReasoning(block.thinking, textOf(content.text));
    block.signature += textOf(content.signature);
    block.redacted += textOf(content.redactedContent);
    this.#draft.grow(textOf(content.signature));
    this.#draft.grow(textOf(content.redactedContent));
  }

  #close(event: JsonObject): Reading {
    const index = tokenCount(event.contentBlockIndex);
    const block = this.#blocks.findLast((each) => each.index === index);
    if (block === undefined) return 'nothing';
    this.#draft.endReasoning(block.thinking);
    block.closed = true;
    return 'content';
  }
}
