// Conversations, as clients open, list and replay them.
import * as v from 'valibot';
import { count, givenId, named, whole } from './named.js';
import { turn } from './turn.js';
import { eventPayloads } from './turn-event.js';
import { sandboxMode, threadMode, userInput } from './turn-input.js';

const threadOrigin = v.picklist(['user', 'task_run', 'system']);
const visibility = v.picklist(['visible', 'hidden']);

export const thread = named(
  'Thread',
  v.object({
    workspace_id: v.string(),
    id: v.string(),
    name: v.nullish(v.string()),
    preview: v.pipe(v.string(), v.description('The first message, or the start of it.')),
    mode: threadMode,
    model: v.string(),
    model_provider: v.string(),
    created_at: v.pipe(whole, v.description('Seconds since the epoch.')),
    updated_at: whole,
    status: named('ThreadStatus', v.picklist(['Active', 'Idle', 'Closed'])),
    origin_kind: v.optional(threadOrigin, 'user'),
    sidebar_visibility: v.optional(visibility, 'visible'),
    turns: v.array(turn),
  }),
);
export type Thread = v.InferOutput<typeof thread>;

export const threadStartParams = named(
  'ThreadStartParams',
  v.object({
    thread_id: givenId,
    workspace_id: givenId,
    name: v.nullish(v.string()),
    model: v.nullish(v.string()),
    model_provider: v.nullish(v.string()),
    sandbox: v.nullish(sandboxMode),
    mode: v.nullish(threadMode),
    origin_kind: v.nullish(threadOrigin),
    sidebar_visibility: v.nullish(visibility),
    agent_nickname: v.nullish(v.string()),
    agent_role: v.nullish(v.string()),
  }),
);
export const threadStartResponse = named(
  'ThreadStartResponse',
  v.object({ thread, sandbox: v.object({ mode: sandboxMode }) }),
);

export const threadGetParams = named('ThreadGetParams', v.object({ thread_id: givenId }));
export const threadGetResponse = named('ThreadGetResponse', v.object({ thread }));

export const threadTreeParams = named('ThreadTreeParams', v.object({ workspace_id: givenId }));
export const threadTreeResponse = named(
  'ThreadTreeResponse',
  v.object({
    workspace_id: v.string(),
    threads: v.optional(v.array(thread), []),
    folders: v.optional(v.array(v.object({ id: v.string() })), []),
    placements: v.optional(v.array(v.object({ thread_id: v.string() })), []),
    agents_docs: v.optional(v.array(v.object({ id: v.string() })), []),
  }),
);

export const threadUnsubscribeParams = named('ThreadUnsubscribeParams', v.object({ threadId: givenId }));
export const threadUnsubscribeResponse = named(
  'ThreadUnsubscribeResponse',
  v.object({ status: v.picklist(['notLoaded', 'notSubscribed', 'unsubscribed']) }),
);

const ended = <const Type extends string>(type: Type) =>
  v.object({ type: v.literal(type), workspaceId: v.string(), threadId: v.string(), turn });

const threadHistoryEvent = named(
  'ThreadHistoryEvent',
  v.object({
    turn_id: v.string(),
    sequence: whole,
    created_at: v.pipe(whole, v.description('Seconds since the epoch.')),
    payload: v.variant('type', [
      v.object({
        type: v.literal('turnStarted'),
        workspaceId: v.string(),
        threadId: v.string(),
        turn,
        input: v.optional(v.array(userInput), []),
      }),
      ...eventPayloads,
      ended('turnCompleted'),
      ended('turnFailed'),
      ended('turnBlocked'),
    ]),
  }),
);
export type ThreadHistoryEvent = v.InferOutput<typeof threadHistoryEvent>;

export const threadHistoryParams = named(
  'ThreadHistoryParams',
  v.object({
    thread_id: givenId,
    limit: v.nullish(v.pipe(count, v.minValue(1), v.description('The newest so many events.'))),
  }),
);
export const threadHistoryResponse = named(
  'ThreadHistoryResponse',
  v.object({
    workspace_id: v.string(),
    thread_id: v.string(),
    events: v.optional(v.array(threadHistoryEvent), []),
  }),
);
