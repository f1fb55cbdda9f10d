// What a running turn tells as it goes. `assistant`, `usage` and `note` are journaled in this order; the rest is live only.
import * as v from 'valibot';
import { toolCall } from '../transcript/message.js';
import { usage } from '../transcript/usage.js';

export const progressEvent = v.variant('event', [
  /** A round begins: the request to the model goes out. */
  v.object({ event: v.literal('round'), round: v.number() }),
  /** More of the item being written. `item_id` is that of the later `assistant` event, or the call id for tool output. */
  v.object({
    event: v.literal('delta'),
    item_id: v.string(),
    stream: v.picklist(['text', 'reasoning', 'tool_output']),
    text: v.string(),
  }),
  v.object({
    event: v.literal('assistant'),
    item_id: v.string(),
    round: v.number(),
    text: v.string(),
    calls: v.array(toolCall),
    stop: v.string(),
    model: v.string(),
  }),
  v.object({
    event: v.literal('usage'),
    call_index: v.number(),
    model: v.string(),
    /** The model that was asked, where it is not that of the snapshot. */
    asked: v.optional(v.string()),
    usage,
    /** Its input by our estimate, uncalibrated, where the provider counted it too. */
    estimate_tokens: v.optional(v.number()),
  }),
  /** A call that is answered without asking the supervisor (broken arguments, unknown tool, cut answer). Journaled. */
  v.object({ event: v.literal('invalid_call'), call_id: v.string(), tool: v.string(), message: v.string() }),
  v.object({ event: v.literal('note'), text: v.string() }),
  /** The model call waits before it is tried again. `item_id` is that of the item which the next attempt writes. */
  v.object({
    event: v.literal('retry_scheduled'),
    item_id: v.string(),
    attempt: v.number(),
    delay_ms: v.number(),
    reason: v.string(),
  }),
  /** `model`: the one that refuses it; left out: that of the snapshot. */
  v.object({ event: v.literal('option_dropped'), option: v.string(), model: v.optional(v.string()) }),
  /** An endpoint could not serve: told each time, but only where there is another way. */
  v.object({ event: v.literal('endpoint_failed'), url: v.string(), reason: v.string() }),
  /** An endpoint serves; told once, and again after it failed. */
  v.object({ event: v.literal('endpoint_ok'), url: v.string() }),
  /** All endpoints of a model failed, and another goes on with the turn. */
  v.object({ event: v.literal('model_fallback'), from: v.string(), to: v.string(), reason: v.string() }),
]);
export type ProgressEvent = v.InferOutput<typeof progressEvent>;
