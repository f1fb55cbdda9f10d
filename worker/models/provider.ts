// The contract of a model provider. One dialect a file; all obey this, the built-in offline model included.

import type { ErrorCode } from '../../shared/errors.js';
import type { ModelSettings, TurnCredentials } from '../../shared/ipc/turn-snapshot.js';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { PlannedTool } from '../../shared/tools/tool-plan.js';
import type { Message } from '../../shared/transcript/message.js';
import type { Usage } from '../../shared/transcript/usage.js';

export interface ModelRequest {
  readonly settings: ModelSettings;
  readonly credentials: TurnCredentials;
  readonly system_prompt: string;
  /** Already repaired: pairs whole, no empty blocks, well-formed Unicode. */
  readonly messages: readonly Message[];
  readonly tools: readonly PlannedTool[];
  readonly output_schema?: JsonObject;
  /** Hard bound for this call, from the turn's deadline. */
  readonly deadline_ms: number;
}

/** A call as it came: the name on the wire and the raw text of its arguments. Nothing is repaired. */
export interface RawCall {
  readonly provider_id: string;
  readonly wire_name: string;
  readonly arguments_text: string;
}

export type StopReason = 'end' | 'tool_calls' | 'length' | 'refusal' | 'other';

export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly RawCall[];
  /** Opaque reasoning parts, to be sent back to the same model within the turn. */
  readonly reasoning: readonly JsonValue[];
  readonly stop: StopReason;
  /** The provider's numbers; null when it gave none. */
  readonly usage: Usage | null;
  /** The model that answered, as the provider named it. */
  readonly model: string;
}

export type ModelEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'retry'; readonly attempt: number; readonly delay_ms: number; readonly reason: string }
  /** The attempt failed after deltas: what it streamed so far is void. */
  | { readonly kind: 'restart' }
  | { readonly kind: 'option_dropped'; readonly option: string }
  /** An endpoint failed, each time, or works again. `reason` is our own. */
  | { readonly kind: 'endpoint'; readonly url: string; readonly works: boolean; readonly reason: string };

export type ModelOutcome =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'timeout' }
  /** `message` is our own sentence, safe to show; `charged` is what the provider may have billed for the failed call, if known. */
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly message: string;
      readonly charged: Usage | null;
    };

export interface ModelProvider {
  /** One model call with retries inside. Never rejects and never throws. `aborted` only if the signal fired, `timeout` only if deadline_ms passed. */
  call(
    request: ModelRequest,
    onEvent: (event: ModelEvent) => void,
    signal: AbortSignal,
  ): Promise<ModelOutcome>;
  /** Opens a connection ahead of the first call and keeps it; tells whether one stands. Never rejects. */
  preconnect(settings: ModelSettings, ca: string | undefined): Promise<boolean>;
  /** Closes kept connections. */
  close(): void;
}
