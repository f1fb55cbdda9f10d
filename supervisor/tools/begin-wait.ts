// A call that cannot be answered at once: its intent and its wait are one transaction; only then anything is armed.
import { newId } from '../../shared/ids.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject } from '../../shared/json.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import type { WaitRow } from '../store/rows.js';
import { intentOf, record, resultEvent, type Send, type ToolRequest, type Verdict } from './call-record.js';
import { flushJournal, type RunningTurn } from './running-turn.js';
import type { WaitingTool } from './waiting-tool.js';

/** The call stays open; what it waits for is durable together with it, and only then anything is done about it. */
export function beginWait(
  turn: RunningTurn,
  request: ToolRequest,
  tool: WaitingTool,
  args: JsonObject,
  verdict: Verdict,
  send: Send,
): void {
  flushJournal(turn);
  const masked = turn.masker.json(args) as JsonObject;
  const begun = beginInside(turn, request, tool, masked, verdict);
  for (const event of begun.events) turn.live(turn.turnId, { type: 'journal', event });
  const answer = (result: ToolResult): void => send({ type: 'tool_answered', id: request.id, result });
  if (begun.wait === null) answer(begun.result);
  else turn.waits.opened(begun.wait, turn, answer);
}

type Begun = { readonly events: readonly JournalEvent[] } & (
  | { readonly wait: WaitRow }
  | { readonly wait: null; readonly result: ToolResult }
);

function beginInside(
  turn: RunningTurn,
  request: ToolRequest,
  tool: WaitingTool,
  args: JsonObject,
  verdict: Verdict,
): Begun {
  const { store, turnId, threadId } = turn;
  const now = turn.clock.now();
  const callId = request.call_id;
  const write = (events: readonly JournalEvent[]): JournalEvent[] => {
    const kept = events.map((event) => turn.masker.kept(event as never) as JournalEvent);
    for (const event of kept) store.events.append(turnId, threadId, event, now);
    return kept;
  };
  return store.transact('record_intent', () => {
    const begun = tool.begin(args, { store, threadId, turnId, nowMs: now, newId, callId });
    if ('refused' in begun) {
      const denied: Verdict = { verdict: 'deny', reason: begun.refused, asked: true };
      const result = toolError(begun.refused);
      record(turn, request, args, 'deny');
      const intent = intentOf(request, args, denied, 'nowhere');
      return { events: write([intent, resultEvent(request, result, 'denied', 0)]), wait: null, result };
    }
    record(turn, request, args, 'grant');
    const intent = intentOf(request, args, verdict, 'supervisor');
    if ('content' in begun) {
      store.calls.transition(callId, 'finish');
      return { events: write([intent, resultEvent(request, begun, 'done', 0)]), wait: null, result: begun };
    }
    const { subject, wakeAtMs } = begun;
    const wait = {
      ...{ wait_id: callId, turn_id: turnId, thread_id: threadId, tool: request.tool },
      ...{ subject: turn.masker.kept(subject) as JsonObject, wake_at_ms: wakeAtMs, created_at_ms: now },
    };
    store.waits.insert(wait);
    return { events: write([intent]), wait: { ...wait, open: true } };
  });
}
