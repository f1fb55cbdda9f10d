// `--output stream-json`: one line per event, each a notification of the client protocol.
import type { Clock } from '../../shared/clock.js';
import type { ProgressEvent } from '../../shared/ipc/progress.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject } from '../../shared/json.js';
import type { TurnStatus } from '../../shared/outcome.js';
import {
  agentMessageItem,
  finishedToolItem,
  startedToolItem,
  type TurnItem,
  userMessageItem,
} from '../../shared/protocol/turn-item.js';
import type { LiveEvent } from '../tools/running-turn.js';

export interface TurnAddress {
  readonly workspace_id: string;
  readonly thread_id: string;
  readonly turn_id: string;
}

type Intent = Extract<JournalEvent, { kind: 'tool_intent' }>;

/** Turns live events into lines. Holds what a later line needs of an earlier one: the arguments of open calls. */
export function notificationLines(
  address: TurnAddress,
  clock: Clock,
  write: (line: string) => void,
): (event: LiveEvent) => void {
  const intents = new Map<string, Intent>();
  const started = new Set<string>();
  let round = 0;
  const send = (method: string, params: JsonObject): void =>
    write(JSON.stringify({ jsonrpc: '2.0', method, params }));
  const item = (method: string, value: TurnItem): void => {
    if (method === 'item/started') started.add(value.id);
    send(method, { ...address, item: value });
  };
  const whole = (value: TurnItem): void => {
    if (!started.has(value.id)) item('item/started', value);
    item('item/completed', value);
  };
  const journal = (event: JournalEvent): void => {
    switch (event.kind) {
      case 'user_message':
        whole(userMessageItem(event));
        return;
      case 'assistant_message':
        if (event.text !== '') whole(agentMessageItem(event));
        return;
      case 'tool_intent':
        intents.set(event.call_id, event);
        item('item/started', startedToolItem(event));
        return;
      case 'tool_result':
        whole(finishedToolItem(intents.get(event.call_id) ?? unseenIntent(event), event));
        return;
      case 'turn_ended':
        send(methodOf(event.status), turnParams(address, event));
        return;
      case 'usage':
      case 'note':
        return;
    }
  };
  const delta = (progress: Extract<ProgressEvent, { event: 'delta' }>): void => {
    if (progress.stream === 'reasoning') return;
    const text = progress.stream === 'text';
    if (text && !started.has(progress.item_id))
      item('item/started', { type: 'agentMessage', id: progress.item_id, text: '' });
    send(text ? 'item/agent_message/delta' : 'item/command_execution/output_delta', {
      ...address,
      item_id: progress.item_id,
      delta: progress.text,
      stream: text ? 'agent_message' : 'stdout',
    });
  };
  const live = (progress: ProgressEvent): void => {
    if (progress.event === 'delta') delta(progress);
    else if (progress.event === 'round') round = progress.round;
    else if (progress.event === 'retry_scheduled')
      send('item/retry_scheduled', {
        ...address,
        ...retryParams(progress, `${address.turn_id}.${round}`, clock),
      });
  };
  return (event) => {
    if (event.type === 'journal') journal(event.event);
    else if (event.type === 'progress') live(event.progress);
    else send('turn/waiting', { ...address, waits_for: 'budget', until_ms: event.until_ms });
  };
}

/** All attempts at one model call are one job of recovery. */
function retryParams(
  retry: Extract<ProgressEvent, { event: 'retry_scheduled' }>,
  jobId: string,
  clock: Clock,
): JsonObject {
  return {
    item_id: retry.item_id,
    item_type: 'agentMessage',
    recovery_job_id: jobId,
    attempt_number: retry.attempt,
    next_run_at_unix: Math.ceil((clock.now() + retry.delay_ms) / 1_000),
    reason: retry.reason,
  };
}

export function startedLine(address: TurnAddress): string {
  const { turn_id: id, ...thread } = address;
  return JSON.stringify({
    jsonrpc: '2.0',
    method: 'turn/started',
    params: { ...thread, turn: { id, status: 'InProgress' } },
  });
}

function methodOf(status: TurnStatus): string {
  if (status === 'completed') return 'turn/completed';
  return status === 'exhausted_steps' || status === 'exhausted_tokens' ? 'turn/blocked' : 'turn/failed';
}

function turnParams(address: TurnAddress, event: Extract<JournalEvent, { kind: 'turn_ended' }>): JsonObject {
  const { turn_id: id, ...thread } = address;
  const status =
    event.status === 'completed'
      ? 'Completed'
      : event.status === 'cancelled'
        ? 'Interrupted'
        : event.status.startsWith('exhausted')
          ? 'Blocked'
          : 'Failed';
  return {
    ...thread,
    turn: {
      id,
      status,
      outcome: event.status,
      ...(event.error === undefined ? {} : { error: event.error.message }),
    },
  };
}

/** A call that never came to a verdict (its arguments could not be read) still has an item. */
function unseenIntent(result: Extract<JournalEvent, { kind: 'tool_result' }>): Intent {
  return {
    kind: 'tool_intent',
    call_id: result.call_id,
    round: 0,
    index: 0,
    tool: result.tool,
    arguments: {},
    verdict: 'deny',
    reason: '',
    runs: 'nowhere',
  };
}
