// Remarks that wait for the next turn of a thread: they become part of its journal, right after its message.
import type { JournalEvent } from '../../shared/journal.js';
import type { Store } from '../store/types.js';

/** Inside a transaction. They wait no more. */
export function takeNotes(store: Store, threadId: string): JournalEvent[] {
  return store.threadNotes.take(threadId).map(noteOf);
}

export function noteOf(text: string): JournalEvent {
  return { kind: 'note', text: `A message came for this conversation: ${text}` };
}
