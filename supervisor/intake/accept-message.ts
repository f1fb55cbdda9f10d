// The door for messages: what is accepted is durable before anyone is told so. One message makes one turn.
import type { Clock } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { Store } from '../store/types.js';

export interface IncomingMessage {
  readonly threadId: string;
  readonly workspaceRoot: string;
  readonly principal: string;
  readonly text: string;
}

export interface Accepted {
  readonly turnId: string;
  readonly threadId: string;
  readonly workspaceId: string;
  /** The first event of the turn's journal. */
  readonly event: JournalEvent;
}

/** Writes inbox event, turn and user message in one transaction. When it returns, the message survives anything. */
export function acceptMessage(store: Store, clock: Clock, message: IncomingMessage): Accepted {
  const now = clock.now();
  const turnId = newId('turn', now);
  const event: JournalEvent = {
    kind: 'user_message',
    item_id: `user_${turnId}`,
    text: message.text,
    principal: message.principal,
  };
  return store.transact('accept_message', () => {
    const workspace = store.workspaces.ensure(message.workspaceRoot, now);
    const thread = store.threads.ensure(message.threadId, workspace.workspace_id, message.principal, now);
    store.turns.insert({ turn_id: turnId, thread_id: thread.thread_id, created_at_ms: now });
    store.inbox.insert({
      event_id: newId('event', now),
      turn_id: turnId,
      thread_id: thread.thread_id,
      principal: message.principal,
      text: message.text,
      created_at_ms: now,
      producer: 'job',
      lane: 'person',
      hop: 0,
    });
    store.events.append(turnId, thread.thread_id, event, now);
    return { turnId, threadId: thread.thread_id, workspaceId: workspace.workspace_id, event };
  });
}
