// What happens to the items of a turn, as `turn/items` replays it. Live, each of these is a notification of its own.
import * as v from 'valibot';
import { turnItem, turnItemType } from './item.js';
import { count, named, whole } from './named.js';

/** Fields of an event beside its address. Camel case where it is replayed, snake case where it is told live. */
const retry = {
  itemId: v.string(),
  itemType: turnItemType,
  recoveryJobId: v.string(),
  attemptNumber: count,
  nextRunAtUnix: whole,
  reason: v.nullish(v.string()),
};

export const executionWindow = {
  window_id: v.string(),
  window_index: count,
  status: named(
    'ExecutionWindowStatus',
    v.picklist([
      'running',
      'exhausted',
      'checkpointed',
      'continued',
      'completed',
      'interrupted',
      'blocked',
      'failed',
    ]),
  ),
  started_at_unix_ms: whole,
};

const address = { workspaceId: v.string(), threadId: v.string(), turnId: v.string() };

/** The part of a turn's story that is journaled. */
export const eventPayloads = [
  v.object({ type: v.literal('itemStarted'), ...address, item: turnItem }),
  v.object({ type: v.literal('itemCompleted'), ...address, item: turnItem }),
  v.object({ type: v.literal('itemRetryScheduled'), ...address, ...retry }),
  v.object({
    type: v.literal('turnExecutionWindowStarted'),
    workspace_id: v.string(),
    thread_id: v.string(),
    turn_id: v.string(),
    ...executionWindow,
  }),
] as const;

export const turnItemEvent = named(
  'TurnItemEvent',
  v.object({
    sequence: v.pipe(whole, v.description('Grows within the turn.')),
    created_at: v.pipe(whole, v.description('Seconds since the epoch.')),
    payload: v.variant('type', [...eventPayloads]),
  }),
);
export type TurnItemEvent = v.InferOutput<typeof turnItemEvent>;
