// How a tool call stands in the store and in the journal: its row, what was decided about it, and its one result.
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject } from '../../shared/json.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { RunningTurn } from './running-turn.js';

export type ToolRequest = Extract<ToSupervisor, { type: 'tool_request' }>;
export type Send = (frame: ToWorker) => void;
export type Intent = Extract<JournalEvent, { kind: 'tool_intent' }>;

export interface Verdict {
  readonly verdict: 'allow' | 'deny';
  readonly reason: string;
  readonly asked?: true;
}

export function intentOf(
  request: ToolRequest,
  args: JsonObject,
  verdict: Verdict,
  runs: 'worker' | 'supervisor' | 'nowhere',
): Intent {
  return {
    kind: 'tool_intent',
    call_id: request.call_id,
    round: request.round,
    index: request.index,
    tool: request.tool,
    arguments: args,
    runs,
    ...verdict,
  };
}

export function record(
  turn: RunningTurn,
  request: ToolRequest,
  args: JsonObject,
  step: 'grant' | 'deny',
): void {
  turn.store.calls.insert({
    call_id: request.call_id,
    turn_id: turn.turnId,
    tool: request.tool,
    index: request.index,
    arguments: turn.masker.kept(args),
    created_at_ms: turn.clock.now(),
  });
  turn.store.calls.transition(request.call_id, step);
}

export function resultEvent(
  request: ToolRequest,
  result: ToolResult,
  end: 'done' | 'denied' | 'invalid',
  durationMs: number,
): JournalEvent {
  return {
    kind: 'tool_result',
    call_id: request.call_id,
    tool: request.tool,
    content: result.content,
    is_error: result.is_error,
    end,
    duration_ms: Math.round(durationMs),
  };
}
