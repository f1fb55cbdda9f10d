// A question to a model beside the turn's own loop: triage before it, a summary after it, a thought within it. What
// answers it is a process of its own; who asks knows only this.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { Message } from '../../shared/transcript/message.js';
import type { Purpose } from '../store/rows.js';

export interface ThinkRequest {
  /** Names the role whose model answers, and what the spend is booked under. */
  readonly purpose: Exclude<Purpose, 'turn'>;
  /** The turn that pays, with its thread and its principal. */
  readonly turnId: string;
  readonly threadId: string;
  readonly principal: string;
  readonly system_prompt: string;
  readonly messages: readonly Message[];
  /** JSON Schema that the answer must match; left out for prose. */
  readonly output_schema?: JsonObject;
  readonly max_output_tokens: number;
  /** From the moment a process is taken for it. */
  readonly deadline_ms: number;
}

export type ThinkResult =
  /** `value` is the parsed answer where a schema was given, else the text. */
  | { readonly ok: true; readonly value: JsonValue; readonly text: string }
  /** `code` is one of the error table; `message` is a sentence of ours, masked. */
  | { readonly ok: false; readonly code: string; readonly message: string };

export interface Thinker {
  /** Never rejects. When it resolves, what it cost is on the books. The signal ends it as a cancel ends a turn. */
  think(request: ThinkRequest, signal: AbortSignal): Promise<ThinkResult>;
}
