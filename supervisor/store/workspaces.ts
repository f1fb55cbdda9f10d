// Named roots. A root has one workspace for good; its id is derived from nothing and never changes.
import { newId } from '../../shared/ids.js';
import type { Db } from './database.js';
import type { WorkspaceRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

const COLUMNS = 'workspace_id, root, created_at_ms';

export function workspacesTable(db: Db): Store['workspaces'] {
  const byId = reading<WorkspaceRow>(db, `SELECT ${COLUMNS} FROM workspaces WHERE workspace_id = ?`);
  const byRoot = reading<WorkspaceRow>(db, `SELECT ${COLUMNS} FROM workspaces WHERE root = ?`);
  const all = reading<WorkspaceRow>(db, `SELECT ${COLUMNS} FROM workspaces ORDER BY seq`);
  const insert = writing(db, `INSERT INTO workspaces (${COLUMNS}) VALUES (?, ?, ?)`);
  return {
    get: (workspaceId) => byId.get(workspaceId),
    ofRoot: (root) => byRoot.get(root),
    list: () => all.all(),
    ensure: (root, nowMs) => {
      const known = byRoot.get(root);
      if (known !== undefined) return known;
      const row: WorkspaceRow = { workspace_id: newId('workspace', nowMs), root, created_at_ms: nowMs };
      insert(row.workspace_id, row.root, row.created_at_ms);
      return row;
    },
  };
}
