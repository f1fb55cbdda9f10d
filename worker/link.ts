// All that a turn may ask of its supervisor: five things. In process for tests, over the private wire in life.

import type { ProgressEvent } from '../shared/ipc/progress.js';
import type { BudgetAnswer } from '../shared/ipc/to-worker.js';
import type { JsonObject } from '../shared/json.js';
import type { EndReason } from '../shared/outcome.js';
import type { ToolResult } from '../shared/tools/tool-result.js';
import type { Message } from '../shared/transcript/message.js';

export interface CallRequest {
  readonly call_id: string;
  readonly round: number;
  /** Place among all calls of the turn, from 0; part of the idempotency key. */
  readonly index: number;
  readonly tool: string;
  readonly arguments: JsonObject;
}

export interface SupervisorLink {
  /** Fires once when the turn must end; `reason` of the signal is an EndReason. */
  readonly signal: AbortSignal;
  /** Asks, runs what is granted, waits until the result is committed. Never rejects: a refusal is a result with is_error. */
  callTool(request: CallRequest): Promise<ToolResult>;
  /** Asks before a model call; `model` where it is not that of the snapshot. Never rejects; a lost supervisor answers through the signal. */
  askBudget(estimateTokens: number, model?: string): Promise<BudgetAnswer>;
  /** The transcript to go on with, older parts folded; null when nothing can be gained. Never rejects. */
  compact(reason: 'threshold' | 'overflow' | 'asked'): Promise<readonly Message[] | null>;
  /** Tells; order is kept, and everything told before a callTool is handled before it. */
  progress(event: ProgressEvent): void;
}

export function endReasonOf(signal: AbortSignal): EndReason {
  return typeof signal.reason === 'string' ? (signal.reason as EndReason) : 'cancel';
}
