// What a client renders: the items of a turn, built from its journal. Field names and casing are the public wire's.
import type { JournalEvent } from '../journal.js';
import type { JsonObject, JsonValue } from '../json.js';

export type TurnItem = JsonObject & { readonly type: string; readonly id: string };

type Intent = Extract<JournalEvent, { kind: 'tool_intent' }>;
type Result = Extract<JournalEvent, { kind: 'tool_result' }>;

/** What a finished tool item keeps, shows and sends to the model. */
const OUTPUT_POLICY: JsonObject = {
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
  const phase: JsonObject = event.calls.length > 0 ? { phase: 'commentary' } : {};
  return { type: 'agentMessage', id: event.item_id, text: event.text, ...phase };
}

/** The item of a call, opened: judged and about to run (or refused). */
export function startedToolItem(intent: Intent): TurnItem {
  return toolItem(intent, 'in_progress', { kind: 'progress', stage: 'started', metadata: {} }, {});
}

export function finishedToolItem(intent: Intent, result: Result): TurnItem {
  const payload = intent.tool === 'exec_command' ? shellPayload(result) : summaryPayload(result);
  return toolItem(intent, result.is_error ? 'failed' : 'completed', payload, { success: !result.is_error });
}

function toolItem(intent: Intent, status: string, display: JsonObject, more: JsonObject): TurnItem {
  return {
    ...variantOf(intent),
    id: intent.call_id,
    toolName: intent.tool,
    arguments: intent.arguments,
    status,
    outputPolicy: OUTPUT_POLICY,
    display,
    storage: status === 'in_progress' ? { kind: 'none' } : display,
    ...more,
  };
}

function variantOf({ tool, arguments: args }: Intent): JsonObject & { type: string } {
  switch (tool) {
    case 'exec_command':
      return { type: 'commandExecution', command: [textOf(args['command'])] };
    case 'write_file':
    case 'edit_file':
      return { type: 'fileChange', changedFiles: [textOf(args['path'])] };
    case 'apply_patch':
      return { type: 'fileChange', changedFiles: [] };
    case 'web_fetch':
      return { type: 'webFetch', url: textOf(args['url']), links: [] };
    default:
      return { type: 'dynamicToolCall' };
  }
}

function shellPayload(result: Result): JsonObject {
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
function summaryPayload(result: Result): JsonObject {
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
