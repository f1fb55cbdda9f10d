// Frames from the supervisor to a worker. A worker answers `hello` with `hello`, serves one `turn`, and ends.
import * as v from 'valibot';
import { jsonObject } from '../json.js';
import { endReason } from '../outcome.js';
import { toolResult } from '../tools/tool-result.js';
import { message } from '../transcript/message.js';
import { searchOrder } from './search.js';
import { modelSettings, turnCredentials, turnSnapshot } from './turn-snapshot.js';

export const toWorker = v.variant('type', [
  v.object({ type: v.literal('hello'), version: v.number(), worker_id: v.string() }),
  /** To a spare: load what a turn needs, rehearse one throw-away round, open a connection to this model. */
  v.object({ type: v.literal('prepare'), model: modelSettings, ca: v.optional(v.string()) }),
  /** The one turn of this worker. */
  v.object({ type: v.literal('turn'), snapshot: turnSnapshot, credentials: turnCredentials }),
  /** Instead of a turn: one search, answered with `found` or `failed`. */
  v.object({ type: v.literal('search'), order: searchOrder }),
  /** The verdict on a `tool_request`. `granted`: run exactly these arguments (validated, defaults filled in) and send `tool_result`. `answered`: this is the result, already committed. */
  v.object({ type: v.literal('tool_granted'), id: v.number(), arguments: jsonObject }),
  v.object({ type: v.literal('tool_answered'), id: v.number(), result: toolResult }),
  /** A `tool_result` is committed; only now the model may see it. `artifact_id` names the adopted spill. */
  v.object({ type: v.literal('tool_committed'), id: v.number(), artifact_id: v.optional(v.string()) }),
  v.object({
    type: v.literal('budget_answer'),
    id: v.number(),
    answer: v.variant('kind', [
      v.object({ kind: v.literal('go'), model: v.optional(v.string()) }),
      v.object({ kind: v.literal('wait'), wait_ms: v.number() }),
      v.object({
        kind: v.literal('stop'),
        code: v.picklist(['refused', 'exhausted_tokens']),
        reason: v.string(),
      }),
    ]),
  }),
  /** The transcript as the next request shows it; null when nothing could be folded, and why. */
  v.object({
    type: v.literal('compact_answer'),
    id: v.number(),
    messages: v.nullable(v.array(message)),
    problem: v.optional(v.string()),
  }),
  v.object({ type: v.literal('cancel'), reason: endReason }),
  v.object({ type: v.literal('ping'), seq: v.number() }),
]);
export type ToWorker = v.InferOutput<typeof toWorker>;
export type BudgetAnswer = Extract<ToWorker, { type: 'budget_answer' }>['answer'];
