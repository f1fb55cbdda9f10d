// What a waiting tool is: one whose answer comes later (a time, a person, another turn, another model). What it waits
// for is durable from its first moment, so it survives the worker and the supervisor that it began under.
import type { JsonObject } from '../../shared/json.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { WaitRow } from '../store/rows.js';
import type { StateToolContext } from './state-tool.js';

export interface BegunWait {
  /** What is waited for, in the tool's own words. */
  readonly subject: JsonObject;
  /** Wall time at which time itself answers; null when it never does. */
  readonly wakeAtMs: number | null;
}

/** Nobody is there who could answer: the call is refused, and counts as such. */
export interface RefusedWait {
  readonly refused: string;
}

export interface WaitContext extends StateToolContext {
  /** Also the id of the wait. */
  readonly callId: string;
}

/** `beside` runs inside the transaction that records the answer. */
export type AnswerWait = (result: ToolResult, beside?: () => void) => void;

export interface WaitingTool {
  /** While such a call waits, the slot of its turn is lent to the turns that it waits for. */
  readonly lends?: true;
  /** Inside the transaction that records the intent. A result answers at once: a refusal, or nothing to wait for. */
  begin(args: Record<string, unknown>, context: WaitContext): ToolResult | BegunWait | RefusedWait;
  /**
   * After the commit, and again at each start of a supervisor while the wait is open. Calls `answer` at most once, at
   * once or later; returns how to stop waiting, which is called when the turn ends or somebody else answers.
   */
  arm(wait: WaitRow, answer: AnswerWait): () => void;
}
