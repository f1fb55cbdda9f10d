// The journal: ordered, durable events of a turn. Source of truth for items, for recovery and for the transcript.
// An event is written when the thing is finished; deltas are never journaled.
import * as v from 'valibot';
import { jsonObject, jsonValue } from './json.js';
import { turnStatus } from './outcome.js';
import { toolCall } from './transcript/message.js';
import { usage } from './transcript/usage.js';

const journalEvent = v.variant('kind', [
  /** First event of every turn: the message that it answers. */
  v.object({ kind: v.literal('user_message'), item_id: v.string(), text: v.string(), principal: v.string() }),
  /** One model answer, as it enters the transcript. `calls` already carry our own call ids. */
  v.object({
    kind: v.literal('assistant_message'),
    item_id: v.string(),
    round: v.number(),
    text: v.string(),
    calls: v.array(toolCall),
    stop: v.string(),
    model: v.string(),
  }),
  /** Written before anything happens: what was asked, and what we decided. */
  v.object({
    kind: v.literal('tool_intent'),
    call_id: v.string(),
    round: v.number(),
    index: v.number(),
    tool: v.string(),
    arguments: jsonObject,
    verdict: v.picklist(['allow', 'deny']),
    reason: v.string(),
    runs: v.picklist(['worker', 'supervisor', 'nowhere']),
    /** The mode asked before this action; absent where it did not. */
    asked: v.optional(v.boolean()),
  }),
  /** Exactly one per call of an assistant message, by the end of the turn at the latest. */
  v.object({
    kind: v.literal('tool_result'),
    call_id: v.string(),
    tool: v.string(),
    content: jsonValue,
    is_error: v.boolean(),
    /** How the result came about; anything but `done` was written by us. */
    end: v.picklist(['done', 'denied', 'interrupted', 'not_started', 'invalid']),
    artifact_id: v.optional(v.string()),
    duration_ms: v.number(),
  }),
  v.object({
    kind: v.literal('usage'),
    call_index: v.number(),
    model: v.string(),
    usage,
    /** On whose behalf, when not the turn's own loop. */
    purpose: v.optional(v.picklist(['preflight', 'compaction', 'think', 'decide'])),
    /** Millionths of a US dollar; absent where no price is known. */
    cost_micros: v.optional(v.number()),
  }),
  /** The turn goes on in a later window: after an answer that it waited for, or after its supervisor was lost. */
  v.object({
    kind: v.literal('window_opened'),
    window: v.number(),
    reason: v.picklist(['answered', 'runtime_shutdown_continuation', 'resumed']),
  }),
  /** A remark to the model, in the transcript from here on. */
  v.object({ kind: v.literal('note'), text: v.string() }),
  /** Last event of every turn. */
  v.object({
    kind: v.literal('turn_ended'),
    status: turnStatus,
    reply: v.string(),
    error: v.optional(v.object({ code: v.string(), message: v.string() })),
  }),
]);
export type JournalEvent = v.InferOutput<typeof journalEvent>;
