// THE TABLE of notifications: name → params. The daemon sends nothing else unasked.
import * as v from 'valibot';
import { turnItem, turnItemType } from './item.js';
import { count, named, whole } from './named.js';
import { question } from './question.js';
import { thread } from './thread.js';
import { turn } from './turn.js';
import { executionWindow } from './turn-event.js';

const ofThread = { workspace_id: v.string(), thread_id: v.string() };
const ofTurn = { ...ofThread, turn_id: v.string() };
const sequence = v.nullish(
  v.pipe(whole, v.description('Place of the event in `turn/items`; absent for what is not journaled.')),
);

const turnChanged = { ...ofThread, turn, sequence };
const itemChanged = { ...ofTurn, item: turnItem, sequence };

const itemDelta = named(
  'ItemDeltaNotification',
  v.object({
    ...ofTurn,
    item_id: v.string(),
    delta: v.string(),
    stream: v.nullish(
      named(
        'ItemDeltaStream',
        v.picklist(['agent_message', 'stdout', 'stderr', 'tool_progress', 'file_change', 'generic']),
      ),
    ),
  }),
);

export const NOTIFICATIONS = {
  'thread/started': named('ThreadStartedNotification', v.object({ thread })),
  'turn/started': named('TurnStartedNotification', v.object(turnChanged)),
  'turn/completed': named('TurnCompletedNotification', v.object(turnChanged)),
  'turn/failed': named('TurnFailedNotification', v.object(turnChanged)),
  'turn/blocked': named('TurnBlockedNotification', v.object(turnChanged)),
  'turn/waiting': named(
    'TurnWaitingNotification',
    v.object({
      ...ofTurn,
      waits_for: v.picklist(['budget']),
      until_ms: v.pipe(v.nullable(whole), v.description('Wall time; null where nobody knows.')),
    }),
  ),
  'turn/execution_window/started': named(
    'TurnExecutionWindowStartedNotification',
    v.object({ ...ofTurn, ...executionWindow, sequence }),
  ),
  'item/started': named('ItemStartedNotification', v.object(itemChanged)),
  'item/completed': named('ItemCompletedNotification', v.object(itemChanged)),
  'item/agent_message/delta': itemDelta,
  'item/command_execution/output_delta': itemDelta,
  'item/tool/progress': itemDelta,
  'item/retry_scheduled': named(
    'ItemRetryScheduledNotification',
    v.object({
      ...ofTurn,
      item_id: v.string(),
      item_type: turnItemType,
      recovery_job_id: v.string(),
      attempt_number: count,
      next_run_at_unix: whole,
      reason: v.nullish(v.string()),
    }),
  ),
  'context/compressing': named(
    'ContextCompressingNotification',
    v.object({ thread_id: v.string(), turn_id: v.string(), message: v.string() }),
  ),
  'context/compressed': named(
    'ContextCompressedNotification',
    v.object({ thread_id: v.string(), turn_id: v.string(), compressed_tokens: count }),
  ),
  'question/opened': named('QuestionOpenedNotification', v.object({ question })),
  'question/closed': named('QuestionClosedNotification', v.object({ question_id: v.string(), ...ofTurn })),
} as const satisfies Record<string, v.GenericSchema>;

export type NotificationName = keyof typeof NOTIFICATIONS;
export type NotificationParams<N extends NotificationName> = v.InferOutput<(typeof NOTIFICATIONS)[N]>;

/** One notification: its name and the params that belong to it. */
export type Notification = {
  [N in NotificationName]: { readonly method: N; readonly params: NotificationParams<N> };
}[NotificationName];
