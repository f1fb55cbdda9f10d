// What turns write to other threads, now or later. A message starts a turn there, or where the agent is not woken by
// messages, it stays a note that the next turn reads.
import { newId } from '../../shared/ids.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { TimerRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { type Accepted, acceptInside, type IncomingMessage } from './accept-message.js';
import { type DoorRules, type Refusal, refusalOf } from './door-rules.js';
import { noteOf } from './notes.js';

export interface MailRules extends DoorRules {
  /** The agent is woken by messages of turns; else they stay notes. */
  readonly wakes: boolean;
}

export interface Noted {
  readonly ok: true;
  readonly noted: true;
  /** The note as it stands in the turn that waits there already; null while it waits for a next one. */
  readonly written: { readonly turnId: string; readonly event: JournalEvent } | null;
}

export type Delivery = Accepted | Refusal | Noted;

/** Inside a transaction. */
export function deliverInside(
  store: Store,
  nowMs: number,
  message: IncomingMessage,
  rules: MailRules,
): Delivery {
  if (rules.wakes) return acceptInside(store, nowMs, message, rules);
  const { threadId, workspaceRoot, principal, text } = message;
  const refusal = refusalOf(store, message, rules);
  if (refusal !== null) return refusal;
  const workspace = store.workspaces.ensure(workspaceRoot, nowMs);
  store.threads.ensure(threadId, workspace.workspace_id, principal, nowMs);
  const event = noteOf(text);
  const next = store.turns
    .inStates(['queued'])
    .find((turn) => turn.thread_id === threadId && turn.windows === 0);
  if (next === undefined) store.threadNotes.add(threadId, text, nowMs);
  else store.events.append(next.turn_id, threadId, event, nowMs);
  return { ok: true, noted: true, written: next === undefined ? null : { turnId: next.turn_id, event } };
}

/** Inside a transaction: kept for later, unless it could not be delivered now for a reason that stays. */
export function scheduleInside(
  store: Store,
  nowMs: number,
  letter: Omit<TimerRow, 'timer_id' | 'created_at_ms'>,
  rules: DoorRules,
): Refusal | null {
  const asked = { threadId: letter.thread_id, principal: letter.principal, hop: letter.hop };
  const refusal = refusalOf(store, asked, rules);
  if (refusal !== null) return refusal;
  if (store.timers.countUpTo(rules.total) >= rules.total)
    return { ok: false, code: 'queue_full', message: `${rules.total} messages wait for their time already` };
  store.timers.insert({ ...letter, timer_id: newId('timer', nowMs), created_at_ms: nowMs });
  return null;
}
