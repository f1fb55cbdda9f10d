// An answer while it is being streamed: joins text, tells of it as it comes, and counts it against the bound that no
// answer may pass. What the events of a dialect mean is its reader's business.
import type { JsonValue } from '../../shared/json.js';
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Refusal } from './dialect.js';
import type { ModelEvent, RawCall } from './provider.js';
import { distinctIds, TextJoin, textOf } from './wire-text.js';

/** More than any answer a model can write, and just what the supervisor takes in one frame; in UTF-8. */
const ANSWER_BYTES_MAX = 15 * 1024 * 1024;

interface CallInWriting {
  readonly id: string;
  readonly name: string;
  readonly argumentsText: string;
}

export class AnswerDraft {
  /** True once an event with a delta was told, or a call was begun. */
  streamed = false;
  readonly #onEvent: (event: ModelEvent) => void;
  readonly #text = new TextJoin();
  #bytes = 0;
  #model = '';

  constructor(onEvent: (event: ModelEvent) => void) {
    this.#onEvent = onEvent;
  }

  get text(): string {
    return this.#text.text;
  }

  /** What makes the answer fail once it is larger than any may be. */
  get excess(): Refusal | null {
    if (this.#bytes <= ANSWER_BYTES_MAX) return null;
    return { status: 200, type: 'answer_too_large', code: '', param: '', message: '' };
  }

  addText(piece: string): void {
    this.grow(piece);
    this.#tell('text', this.#text.push(piece));
  }

  /** Reasoning may come in several parts, each joined for itself. */
  addReasoning(part: TextJoin, piece: string): void {
    this.grow(piece);
    this.#tell('reasoning', part.push(piece));
  }

  endText(): void {
    this.#tell('text', this.#text.end());
  }

  endReasoning(part: TextJoin): void {
    this.#tell('reasoning', part.end());
  }

  /** Counts what is kept but not told, such as arguments. */
  grow(by: string): void {
    this.#bytes += Buffer.byteLength(by);
  }

  /** The first name counts. */
  nameModel(name: JsonValue | undefined): void {
    if (this.#model === '') this.#model = textOf(name);
  }

  model(fallback: string): string {
    return this.#model === '' ? fallback : wellFormed(this.#model).slice(0, 200);
  }

  #tell(kind: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    this.streamed = true;
    this.#onEvent({ kind, text });
  }
}

/** The calls of one answer, as they came, told apart by their ids. */
export function rawCalls(calls: readonly CallInWriting[]): RawCall[] {
  const ids = distinctIds(calls.map((call) => call.id));
  return calls.map((call, index) => ({
    provider_id: ids[index] ?? '',
    wire_name: wellFormed(call.name),
    arguments_text: wellFormed(call.argumentsText),
  }));
}
