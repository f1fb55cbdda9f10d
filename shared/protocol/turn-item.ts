// Builds what a client renders, the items of a turn, out of its journal.
import type { JournalEvent } from '../journal.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { TurnItem } from './item.js';

type Intent = Extract<JournalEvent, { kind: 'tool_intent' }>;
type Result = Extract<JournalEvent, { kind: 'tool_result' }>;
type ToolItem = Extract<TurnItem, { toolName: string }>;

/** What a finished tool item keeps, shows and sends to the model. */
const OUTPUT_POLICY: ToolItem['outputPolicy'] = {
  llm: { mode: 'full', max_bytes: 65_536 },
  llmRetention: { mode: 'until_turn_terminal', max_bytes: 65_536 },
  timeline: { mode: 'full', max_bytes: 65_536 },
  storage: { mode: 'full', max_bytes: 65_536 },
  recovery: { mode: 'metadata_only' },
  deltas: { mode: 'progress_only' },
};

export function userMessageItem(event: Extract<JournalEvent, { kind: 'user_message' }>): TurnItem {
  return { type: 'userMessage', id: event.item_id, text: event.text, attachments: [] };
}

export function agentMessageItem(event: Extract<JournalEvent, { kind: 'assistant_message' }>): TurnItem {
  const item = { type: 'agentMessage', id: event.item_id, text: event.text } as const;
  return event.calls.length > 0 ? { ...item, phase: 'commentary' } : item;
}

/** The item of a call, opened: judged and about to run (or refused). */
export function startedToolItem(intent: Intent): TurnItem {
  return toolItem(intent, {
    status: 'in_progress',
    display: { kind: 'progress', stage: 'started', metadata: {} },
    storage: { kind: 'none' },
  });
}

export function finishedToolItem(intent: Intent, result: Result): TurnItem {
  const payload = intent.tool === 'exec_command' ? shellPayload(result) : summaryPayload(result);
  const status = result.is_error ? 'failed' : 'completed';
  return toolItem(intent, { status, display: payload, storage: payload, success: !result.is_error });
}

function toolItem(
  { call_id: id, tool: toolName, arguments: args }: Intent,
  stage: Pick<ToolItem, 'status' | 'display' | 'storage' | 'success'>,
): TurnItem {
  const common = { id, toolName, arguments: args, outputPolicy: OUTPUT_POLICY, ...stage };
  switch (toolName) {
    case 'exec_command':
      return { type: 'commandExecution', ...common, command: [textOf(args['command'])] };
    case 'write_file':
    case 'edit_file':
      return { type: 'fileChange', ...common, changedFiles: [textOf(args['path'])] };
    case 'apply_patch':
      return { type: 'fileChange', ...common, changedFiles: [] };
    case 'web_fetch':
      return { type: 'webFetch', ...common, url: textOf(args['url']), links: [] };
    default:
      return { type: 'dynamicToolCall', ...common };
  }
}

function shellPayload(result: Result): Extract<ToolItem['storage'], { kind: 'shell' }> {
  const content = asObject(result.content);
  return {
    kind: 'shell',
    aggregated_output: textOf(content['output']),
    ...(typeof content['exit_code'] === 'number' ? { exit_code: content['exit_code'] } : {}),
    duration_ms: result.duration_ms,
    timed_out: content['timed_out'] === true,
    truncated: result.artifact_id !== undefined,
  };
}

/** A few lines a person can read; the whole stands in `turn/items`. */
function summaryPayload(result: Result): Extract<ToolItem['storage'], { kind: 'summary' }> {
  const text = typeof result.content === 'string' ? result.content : JSON.stringify(result.content);
  return {
    kind: 'summary',
    title: result.tool,
    lines: text.split('\n').slice(0, 20),
    metadata: {},
    truncated: result.artifact_id !== undefined,
  };
}

function asObject(value: JsonValue): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
