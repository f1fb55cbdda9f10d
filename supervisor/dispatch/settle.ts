// The one way a turn ends: a single transaction that any end may reach (the worker's last frame, its death, a cancel
// before it started, a restart). It happens once; a later arrival finds the turn ended and changes nothing.
import type { JournalEvent } from '../../shared/journal.js';
import type { TurnStatus } from '../../shared/outcome.js';
import { wellFormed } from '../../shared/transcript/unicode.js';
import { type Governor, spenderOf } from '../budgets/governor.js';
import type { EventRow, TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { pricedUsage, settleUsage } from './turn-budget.js';

export interface Ending {
  readonly status: TurnStatus;
  readonly reply: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly rounds: number;
  readonly toolCalls: number;
  /** A model call whose answer never came, charged at this estimate; null when none was open. */
  readonly lostCall: LostCall | null;
  /** The turn was not let start. */
  readonly notRun?: boolean;
  /** How long its last window ran. */
  readonly activeMs?: number;
}

export interface LostCall {
  readonly index: number;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What is written in the same transaction, before the end, and told before it. */
interface Before {
  readonly inside: () => void;
  readonly after: () => void;
}

/** True when this call ended the turn, false when it had ended before. Returns the events it wrote through `written`. */
export function settle(
  store: Store,
  governor: Governor,
  turnId: string,
  ending: Ending,
  nowMs: number,
  written: (event: JournalEvent) => void = () => undefined,
  before?: Before,
): boolean {
  const events = store.transact('settle_turn', () => {
    before?.inside();
    return settleInside(store, governor, turnId, ending, nowMs);
  });
  before?.after();
  for (const event of events) written(event);
  return events.length > 0;
}

/** The body, for the recovery that settles many turns in one transaction of its own. */
export function settleInside(
  store: Store,
  governor: Governor,
  turnId: string,
  ending: Ending,
  nowMs: number,
): JournalEvent[] {
  const turn = store.turns.get(turnId);
  if (turn === undefined || turn.state === 'ended') return [];
  const rows = store.events.ofTurn(turnId);
  const events: JournalEvent[] = sealOpenCalls(store, rows);
  for (const wait of store.waits.openOf(turnId)) store.waits.close(wait.wait_id);
  events.push(...chargeLost(store, governor, turn, ending.lostCall, nowMs));
  if (ending.status !== 'completed') events.push({ kind: 'note', text: endNote(ending) });
  const reply = wellFormed(ending.reply);
  events.push({
    kind: 'turn_ended',
    status: ending.status,
    reply,
    ...(ending.error === null ? {} : { error: { code: ending.error.code, message: ending.error.message } }),
  });
  for (const event of events) store.events.append(turnId, turn.thread_id, event, nowMs);
  store.turns.transition(turnId, 'settle', {
    status: ending.status,
    reply,
    error_code: ending.error?.code ?? null,
    error_message: ending.error?.message ?? null,
    rounds: Math.max(turn.rounds, ending.rounds),
    tool_calls: Math.max(turn.tool_calls, ending.toolCalls),
    active_ms: turn.active_ms + Math.max(0, Math.round(ending.activeMs ?? 0)),
    ended_at_ms: nowMs,
  });
  const inbox = store.inbox.ofTurn(turnId);
  if (inbox !== undefined) store.inbox.markDone(inbox.event_id);
  return events;
}

/** What a call that was lost under way is charged; without one, what was held back is given back. Inside a transaction. */
export function chargeLost(
  store: Store,
  governor: Governor,
  { turn_id: turnId, thread_id: threadId }: TurnRow,
  lost: LostCall | null,
  nowMs: number,
): JournalEvent[] {
  if (lost === null) {
    governor.release(turnId);
    return [];
  }
  const { index: callIndex, model, inputTokens, outputTokens } = lost;
  const tokens = { input_tokens: inputTokens, output_tokens: outputTokens, cached_tokens: 0 };
  const spender = spenderOf(store, turnId, threadId);
  const event = pricedUsage(governor, spender, model, {
    callIndex,
    model,
    usage: { ...tokens, estimated: true },
  });
  settleUsage(store, governor, spender, event, nowMs);
  return [event];
}

function endNote({ status, error, notRun }: Ending): string {
  const why = error === null ? '' : `: ${error.message}`;
  return notRun ? `turn not run${why}` : `turn ended with status ${status}${why}`;
}

/** Gives every call that has no result exactly one, saying what is known; but for those that are to stay open. */
export function sealOpenCalls(
  store: Store,
  rows: readonly EventRow[],
  staysOpen: (callId: string) => boolean = () => false,
): JournalEvent[] {
  const answered = new Set<string>();
  for (const { event } of rows) if (event.kind === 'tool_result') answered.add(event.call_id);
  const sealed: JournalEvent[] = [];
  for (const { event } of rows) {
    if (event.kind !== 'assistant_message') continue;
    for (const call of event.calls) {
      if (answered.has(call.call_id) || staysOpen(call.call_id)) continue;
      answered.add(call.call_id);
      const known = store.calls.get(call.call_id);
      const state = known === undefined ? 'not_started' : store.calls.transition(call.call_id, 'seal');
      const interrupted = state === 'interrupted';
      sealed.push({
        kind: 'tool_result',
        call_id: call.call_id,
        tool: call.name,
        content: { error: sealText(interrupted, store.waits.get(call.call_id) !== undefined) },
        is_error: true,
        end: interrupted ? 'interrupted' : 'not_started',
        duration_ms: 0,
      });
    }
  }
  return sealed;
}

function sealText(interrupted: boolean, waited: boolean): string {
  if (!interrupted) return 'not started';
  return waited ? 'the turn ended before the answer came' : 'interrupted, effect unknown';
}
