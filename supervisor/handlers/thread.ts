// `thread/*`: opening a conversation (and listening to it), listing and replaying.
import type { ThreadHistoryEvent } from '../../shared/protocol/thread.js';
import { type HandlerParts, type HandlersOf, Refused } from './ports.js';
import { questionsOf } from './question.js';
import { replay } from './replay.js';
import { mustBeId, quoted, threadOf, threadRow } from './views.js';

type Names = 'thread/start' | 'thread/get' | 'thread/tree' | 'thread/history' | 'thread/unsubscribe';

/** More would be a page that nobody reads. */
const TREE_MAX = 500;
const HISTORY_MAX = 10_000;

export function threadHandlers(parts: HandlerParts): HandlersOf<Names> {
  const { store, clock } = parts;
  return {
    'thread/start': (params, call) => {
      const { thread_id: id, workspace_id: workspaceId } = params;
      mustBeId('thread_id', id);
      if (store.workspaces.get(workspaceId) === undefined)
        throw new Refused('workspace_not_found', `there is no workspace ${quoted(workspaceId)}`);
      const known = store.threads.get(id);
      if (known !== undefined && known.workspace_id !== workspaceId)
        throw new Refused('thread_elsewhere', `thread ${id} belongs to another workspace`);
      const row =
        known ??
        store.transact('open_thread', () =>
          store.threads.ensure(id, workspaceId, call.principal, clock.now(), {
            name: params.name?.trim() || null,
            mode: params.mode ?? 'Agent',
          }),
        );
      call.subscribe(id);
      const thread = threadOf(row, parts, true);
      call.tell({ method: 'thread/started', params: { thread } });
      for (const question of questionsOf(parts, id))
        call.tell({ method: 'question/opened', params: { question } });
      return { thread, sandbox: { mode: 'FullAccess' } };
    },
    'thread/get': ({ thread_id: id }) => ({ thread: threadOf(threadRow(parts, id), parts, true) }),
    'thread/tree': ({ workspace_id: workspaceId }) => {
      if (store.workspaces.get(workspaceId) === undefined)
        throw new Refused('workspace_not_found', `there is no workspace ${quoted(workspaceId)}`);
      const rows = store.threads.list().filter((row) => row.workspace_id === workspaceId);
      const threads = rows.slice(-TREE_MAX).map((row) => threadOf(row, parts, false));
      return { workspace_id: workspaceId, threads, folders: [], placements: [], agents_docs: [] };
    },
    'thread/history': ({ thread_id: id, limit }) => {
      const { workspace_id } = threadRow(parts, id);
      const events: ThreadHistoryEvent[] = store.turns
        .ofThread(id)
        .flatMap((turn) =>
          replay(parts, turn, workspace_id).map((event) => ({ turn_id: turn.turn_id, ...event })),
        );
      return {
        workspace_id,
        thread_id: id,
        events: events.slice(-Math.min(limit ?? HISTORY_MAX, HISTORY_MAX)),
      };
    },
    'thread/unsubscribe': ({ threadId }, call) => {
      if (store.threads.get(threadId) === undefined) return { status: 'notLoaded' };
      return { status: call.unsubscribe(threadId) ? 'unsubscribed' : 'notSubscribed' };
    },
  };
}
