// Frames from a worker to the supervisor. Last ones before exit: `turn_done`, or `failed` when no turn could run.
import * as v from 'valibot';
import { jsonObject } from '../json.js';
import { turnStatus } from '../outcome.js';
import { toolResult } from '../tools/tool-result.js';
import { progressEvent } from './progress.js';
import { searchHit } from './search.js';

const turnOutcome = v.object({
  status: turnStatus,
  /** Final text for the person; may be empty when the status is not `completed`. */
  reply: v.string(),
  rounds: v.number(),
  tool_calls: v.number(),
  error: v.optional(v.object({ code: v.string(), message: v.string() })),
  /** Arguments of a successful `finish`. */
  finish: v.optional(jsonObject),
});
export type TurnOutcome = v.InferOutput<typeof turnOutcome>;

export const toSupervisor = v.variant('type', [
  v.object({ type: v.literal('hello'), version: v.number(), pid: v.number() }),
  /** Loaded, waiting for `prepare` or `turn`. */
  v.object({ type: v.literal('ready') }),
  /** After `prepare`: rehearsed; `connected` says whether a connection to the model endpoint stands open. */
  v.object({ type: v.literal('prepared'), connected: v.boolean() }),
  v.object({ type: v.literal('pong'), seq: v.number() }),
  v.object({ type: v.literal('progress'), progress: progressEvent }),
  /** Every call goes here before anything happens. `index` is its place in the whole turn, from 0. */
  v.object({
    type: v.literal('tool_request'),
    id: v.number(),
    call_id: v.string(),
    round: v.number(),
    index: v.number(),
    tool: v.string(),
    arguments: jsonObject,
  }),
  /** What a granted call gave. The worker waits for `tool_committed` before the model sees it. */
  v.object({
    type: v.literal('tool_result'),
    id: v.number(),
    call_id: v.string(),
    result: toolResult,
    duration_ms: v.number(),
  }),
  /** `model`: the fallback that is to be asked; left out: the model of the snapshot. */
  v.object({
    type: v.literal('budget_request'),
    id: v.number(),
    estimate_tokens: v.number(),
    model: v.optional(v.string()),
  }),
  /** The transcript is about to outgrow the model's window, has outgrown it, or the model asked to fold it. */
  v.object({
    type: v.literal('compact_request'),
    id: v.number(),
    reason: v.picklist(['threshold', 'overflow', 'asked']),
  }),
  /** What a `search` found, best first; the worker leaves. */
  v.object({ type: v.literal('found'), hits: v.array(searchHit) }),
  v.object({ type: v.literal('turn_done'), outcome: turnOutcome }),
  v.object({ type: v.literal('failed'), code: v.string(), message: v.string() }),
]);
export type ToSupervisor = v.InferOutput<typeof toSupervisor>;
