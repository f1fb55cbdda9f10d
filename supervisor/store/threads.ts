// Conversations: which workspace each belongs to, and who owns it.
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Db } from './database.js';
import { reading, writing } from './statement.js';
import type { Store, ThreadRow } from './types.js';

const COLUMNS = 'thread_id, workspace_id, owner, created_at_ms, name, mode';

export function threadsTable(db: Db): Store['threads'] {
  const byId = reading<ThreadRow>(db, `SELECT ${COLUMNS} FROM threads WHERE thread_id = ?`);
  const all = reading<ThreadRow>(db, `SELECT ${COLUMNS} FROM threads ORDER BY seq`);
  const insert = writing(db, `INSERT INTO threads (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
  return {
    get: (threadId) => byId.get(threadId),
    list: () => all.all(),
    ensure: (threadId, workspaceId, owner, nowMs, { name = null, mode = 'Agent' } = {}) => {
      const known = byId.get(threadId);
      if (known !== undefined) return known;
      const called = name === null ? null : wellFormed(name);
      insert(threadId, workspaceId, owner, nowMs, called, mode);
      return {
        thread_id: threadId,
        workspace_id: workspaceId,
        owner,
        created_at_ms: nowMs,
        name: called,
        mode,
      };
    },
  };
}
