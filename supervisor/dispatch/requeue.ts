// A turn that goes on later: back to the queue with everything written down, so that the next window needs nothing but
// the journal. Calls that wait stay open; of all others the model is told what is known.
import type { JournalEvent } from '../../shared/journal.js';
import type { Governor } from '../budgets/governor.js';
import { SESSIONS_ENDED } from '../snapshot/prior.js';
import type { EventRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { chargeLost, type LostCall, sealOpenCalls } from './settle.js';

export interface WindowEnd {
  readonly rounds: number;
  readonly toolCalls: number;
  /** How long this window ran. */
  readonly activeMs: number;
  /** A model call whose answer never came. */
  readonly lostCall: LostCall | null;
}

/** Inside a transaction. Returns the events it wrote; none, and nothing changed, when the turn is not under way. */
export function requeueInside(
  store: Store,
  governor: Governor,
  turnId: string,
  end: WindowEnd,
  nowMs: number,
): JournalEvent[] {
  const turn = store.turns.get(turnId);
  if (turn === undefined || (turn.state !== 'starting' && turn.state !== 'running')) return [];
  const rows = store.events.ofTurn(turnId);
  const waiting = new Set(store.waits.openOf(turnId).map((wait) => wait.wait_id));
  const events = sealOpenCalls(store, rows, (callId) => waiting.has(callId));
  events.push(...chargeLost(store, governor, turn, end.lostCall, nowMs));
  if (openSessions(rows).length > 0) events.push({ kind: 'note', text: SESSIONS_ENDED });
  for (const event of events) store.events.append(turnId, turn.thread_id, event, nowMs);
  store.turns.transition(turnId, 'requeue', {
    rounds: Math.max(turn.rounds, end.rounds),
    tool_calls: Math.max(turn.tool_calls, end.toolCalls),
    active_ms: turn.active_ms + Math.max(0, Math.round(end.activeMs)),
    worker_id: null,
    pid: null,
    pid_start: null,
  });
  return events;
}

/** Sessions of commands that were running when the model last looked. */
function openSessions(rows: readonly EventRow[]): number[] {
  const asked = new Map<string, number>();
  const open = new Set<number>();
  for (const { event } of rows) {
    if (event.kind === 'window_opened') open.clear();
    if (event.kind === 'tool_intent' && typeof event.arguments.session_id === 'number')
      asked.set(event.call_id, event.arguments.session_id);
    if (event.kind !== 'tool_result') continue;
    const running = runningSession(event.content);
    const session = running ?? asked.get(event.call_id);
    if (session === undefined) continue;
    if (running === null) open.delete(session);
    else open.add(session);
  }
  return [...open];
}

/** The session that a command became, by its result; null when it runs no more, or never did. */
export function runningSession(content: unknown): number | null {
  if (typeof content !== 'object' || content === null) return null;
  const { running, session_id: session } = content as Record<string, unknown>;
  return running === true && typeof session === 'number' ? session : null;
}
