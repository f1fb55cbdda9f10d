// The provider-neutral transcript. Dialects turn it into requests; the journal turns into it. No provider's field names.
import * as v from 'valibot';
import { jsonObject, jsonValue } from '../json.js';

/** A call as the model made it. `arguments` is always an object: what could not be parsed is recorded as `{}` and answered with an error. */
export const toolCall = v.object({
  call_id: v.string(),
  name: v.string(),
  arguments: jsonObject,
});
export type ToolCall = v.InferOutput<typeof toolCall>;

/** A model's own reasoning part, opaque, sent back only to the model that wrote it and only within the turn. */
const reasoningPart = v.object({ model: v.string(), data: jsonValue });

export const message = v.variant('role', [
  /** Standing text of ours. Stable ones come first. */
  v.object({ role: v.literal('system'), text: v.string() }),
  v.object({ role: v.literal('user'), text: v.string() }),
  v.object({
    role: v.literal('assistant'),
    text: v.string(),
    calls: v.array(toolCall),
    reasoning: v.optional(v.array(reasoningPart)),
  }),
  v.object({
    role: v.literal('tool'),
    call_id: v.string(),
    name: v.string(),
    content: jsonValue,
    is_error: v.boolean(),
  }),
  /** A remark of the runtime to the model, such as "the previous turn was cancelled". */
  v.object({ role: v.literal('note'), text: v.string() }),
]);
export type Message = v.InferOutput<typeof message>;
export type AssistantMessage = Extract<Message, { role: 'assistant' }>;
export type ToolMessage = Extract<Message, { role: 'tool' }>;
