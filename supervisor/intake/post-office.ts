// How letters of turns come to the door, as the tool that sends them sees it.
import type { Store } from '../store/types.js';
import type { PostOffice } from '../tools/message-send.js';
import type { Door } from './door.js';

export interface PostOfficeParts {
  readonly store: Store;
  /** Made after the tools; there before any of them runs. */
  door(): Door;
  /** A job does its own turn: what it sends waits for a daemon. */
  readonly runs: 'now' | 'in_a_daemon';
}

export function postOffice({ store, door, runs }: PostOfficeParts): PostOffice {
  return {
    post: ({ threadId, workspaceId, principal, text, hop }) => {
      const workspaceRoot = store.workspaces.get(workspaceId)?.root ?? '/';
      const delivery = door().deliverInside({
        ...{ threadId, workspaceRoot, principal, text, hop },
        producer: 'message',
      });
      if (!delivery.ok) return delivery;
      return { ok: true, turnId: 'turnId' in delivery ? delivery.turnId : null, runs };
    },
    postLater: ({ threadId, workspaceId, principal, text, hop }, dueAtMs) => {
      const row = { thread_id: threadId, workspace_id: workspaceId, due_at_ms: dueAtMs };
      return door().scheduleInside({ ...row, principal, text, hop }) ?? { ok: true, turnId: null, runs };
    },
  };
}
