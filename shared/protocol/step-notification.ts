// A step of a turn's story on the wire: as the notification that tells it live, and as the payload that replays it.
import type { Notification } from './notifications.js';
import type { ThreadHistoryEvent } from './thread.js';
import type { Step } from './turn-story.js';

export interface TurnAddress {
  readonly workspace_id: string;
  readonly thread_id: string;
  readonly turn_id: string;
}

const ENDS = {
  turnCompleted: 'turn/completed',
  turnFailed: 'turn/failed',
  turnBlocked: 'turn/blocked',
} as const;

/** `sequence` is absent for what is not journaled. */
export function notificationOf(address: TurnAddress, step: Step, sequence?: number): Notification {
  const { turn_id, ...ofThread } = address;
  const { thread_id } = ofThread;
  const place = sequence === undefined ? {} : { sequence };
  switch (step.type) {
    case 'turnStarted':
      return { method: 'turn/started', params: { ...ofThread, turn: step.turn, ...place } };
    case 'turnCompleted':
    case 'turnFailed':
    case 'turnBlocked':
      return { method: ENDS[step.type], params: { ...ofThread, turn: step.turn, ...place } };
    case 'turnExecutionWindowStarted':
      return {
        method: 'turn/execution_window/started',
        params: { ...address, ...windowFields(address, step), ...place },
      };
    case 'turnWaiting':
      return {
        method: 'turn/waiting',
        params: { ...address, waits_for: 'budget', until_ms: step.untilMs },
      };
    case 'contextCompressing': {
      const message = 'the older part of the conversation is being summarised';
      return { method: 'context/compressing', params: { thread_id, turn_id, message } };
    }
    case 'contextCompressed':
      return { method: 'context/compressed', params: { thread_id, turn_id, compressed_tokens: step.tokens } };
    case 'itemStarted':
      return { method: 'item/started', params: { ...address, item: step.item, ...place } };
    case 'itemCompleted':
      return { method: 'item/completed', params: { ...address, item: step.item, ...place } };
    case 'itemDelta': {
      const { itemId: item_id, delta, stream } = step;
      const text = stream === 'agent_message';
      return {
        method: text ? 'item/agent_message/delta' : 'item/command_execution/output_delta',
        params: { ...address, item_id, delta, stream },
      };
    }
    case 'itemRetryScheduled':
      return { method: 'item/retry_scheduled', params: { ...address, ...retryFields(step) } };
  }
}

/** Null for what is told live only. */
export function payloadOf(address: TurnAddress, step: Step): ThreadHistoryEvent['payload'] | null {
  const { workspace_id: workspaceId, thread_id: threadId, turn_id: turnId } = address;
  const place = { workspaceId, threadId };
  switch (step.type) {
    case 'turnStarted': {
      const input = { type: 'text' as const, text: step.text, textElements: [] };
      return { type: step.type, ...place, turn: step.turn, input: [input] };
    }
    case 'turnCompleted':
    case 'turnFailed':
    case 'turnBlocked':
      return { type: step.type, ...place, turn: step.turn };
    case 'itemStarted':
    case 'itemCompleted':
      return { type: step.type, ...place, turnId, item: step.item };
    case 'turnExecutionWindowStarted':
      return { type: step.type, ...address, ...windowFields(address, step) };
    case 'turnWaiting':
    case 'contextCompressing':
    case 'contextCompressed':
    case 'itemDelta':
    case 'itemRetryScheduled':
      return null;
  }
}

function windowFields(
  { turn_id }: TurnAddress,
  { window, atMs }: Extract<Step, { type: 'turnExecutionWindowStarted' }>,
) {
  return {
    window_id: `${turn_id}.w${window}`,
    window_index: window,
    status: 'running',
    started_at_unix_ms: atMs,
  } as const;
}

function retryFields(step: Extract<Step, { type: 'itemRetryScheduled' }>) {
  return {
    item_id: step.itemId,
    item_type: 'agent_message',
    recovery_job_id: step.jobId,
    attempt_number: step.attempt,
    next_run_at_unix: Math.ceil(step.atMs / 1_000),
    reason: step.reason,
  } as const;
}
