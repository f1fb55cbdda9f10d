// What a turn sees of its thread: every earlier turn whole, in order, and its own message last. A message that waits
// behind it is not part of it yet.
import type { JournalEvent } from '../../shared/journal.js';
import { messagesOf } from '../../shared/transcript/from-journal.js';
import type { Message } from '../../shared/transcript/message.js';
import { repairHistory } from '../../shared/transcript/repair.js';
import type { Store } from '../store/types.js';

export function transcriptSlice(store: Store, threadId: string, turnId: string): Message[] {
  const byTurn = new Map<string, JournalEvent[]>();
  for (const row of store.events.ofThread(threadId)) {
    const events = byTurn.get(row.turn_id);
    if (events === undefined) byTurn.set(row.turn_id, [row.event]);
    else events.push(row.event);
  }
  const events: JournalEvent[] = [];
  for (const turn of store.turns.ofThread(threadId)) {
    if (turn.turn_id !== turnId && turn.state === 'ended') events.push(...(byTurn.get(turn.turn_id) ?? []));
  }
  events.push(...(byTurn.get(turnId) ?? []));
  return repairHistory(messagesOf(events));
}
