// What a call gives back, whoever ran it. Failures of tools are content for the model, never exceptions.
import * as v from 'valibot';
import { type JsonValue, jsonValue } from '../json.js';

export const toolResult = v.object({
  content: jsonValue,
  is_error: v.boolean(),
  /** Nothing was run, because the call itself makes no sense: arguments that do not fit, a tool that is not there. */
  invalid: v.optional(v.literal(true)),
  /** Tokens that subagents of the turn have used so far, in all: they count as its own. */
  subagent_tokens: v.optional(v.number()),
  /** A file the worker spilled the whole output to, below the turn's spool directory; the supervisor adopts it as an artifact. */
  spill: v.optional(v.object({ path: v.string(), bytes: v.number(), mime: v.string() })),
});
export type ToolResult = v.InferOutput<typeof toolResult>;

export function toolError(message: string, details: Record<string, JsonValue> = {}): ToolResult {
  return { content: { error: message, ...details }, is_error: true };
}
