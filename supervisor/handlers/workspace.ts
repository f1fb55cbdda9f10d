// `workspace/*`: named roots. The one that the daemon was started in is the current one.
import { basename } from 'node:path';
import type { Workspace } from '../../shared/protocol/workspace.js';
import type { WorkspaceRow } from '../store/rows.js';
import { type HandlerParts, type HandlersOf, Refused } from './ports.js';
import { quoted, seconds } from './views.js';

export function workspaceHandlers(
  parts: HandlerParts,
): HandlersOf<'workspace/list' | 'workspace/default' | 'workspace/select'> {
  const { store } = parts;
  const own = (): WorkspaceRow => ownWorkspace(parts);
  return {
    'workspace/list': () => {
      const { workspace_id: current } = own();
      return { workspaces: store.workspaces.list().map((row) => workspaceOf(row, current)) };
    },
    'workspace/default': () => ({ workspace: workspaceOf(own(), own().workspace_id) }),
    'workspace/select': ({ workspace_id: id, make_current: makeCurrent }) => {
      const { workspace_id: current } = own();
      const row = store.workspaces.get(id);
      if (row === undefined) throw new Refused('workspace_not_found', `there is no workspace ${quoted(id)}`);
      if (makeCurrent && id !== current)
        throw new Refused('not_available', 'the current workspace is the folder that the daemon runs in');
      return { workspace: workspaceOf(row, current) };
    },
  };
}

/** The workspace of the folder that the daemon runs in. */
export function ownWorkspace({ store, clock, workspaceRoot }: HandlerParts): WorkspaceRow {
  return (
    store.workspaces.ofRoot(workspaceRoot) ??
    store.transact('open_thread', () => store.workspaces.ensure(workspaceRoot, clock.now()))
  );
}

function workspaceOf(row: WorkspaceRow, current: string): Workspace {
  return {
    id: row.workspace_id,
    name: basename(row.root) || row.root,
    is_active: true,
    is_current: row.workspace_id === current,
    created_at: seconds(row.created_at_ms),
    updated_at: seconds(row.created_at_ms),
  };
}
