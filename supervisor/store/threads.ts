// Conversations: which workspace each belongs to, and who owns it.
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Db } from './database.js';
import type { ThreadRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

const NAMES = [
  'thread_id',
  'workspace_id',
  'owner',
  'created_at_ms',
  'name',
  'mode',
  'parent_turn_id',
] as const;
const COLUMNS = NAMES.join(', ');
const OF_CHILD = NAMES.map((name) => `child.${name}`).join(', ');

export function threadsTable(db: Db): Store['threads'] {
  const byId = reading<ThreadRow>(db, `SELECT ${COLUMNS} FROM threads WHERE thread_id = ?`);
  const all = reading<ThreadRow>(
    db,
    `SELECT ${COLUMNS} FROM threads WHERE parent_turn_id IS NULL ORDER BY seq`,
  );
  const startedBy = reading<ThreadRow>(
    db,
    `SELECT ${OF_CHILD} FROM threads child JOIN turns parent ON child.parent_turn_id = parent.turn_id
     WHERE parent.thread_id = ? ORDER BY child.seq DESC LIMIT ?`,
  );
  const insert = writing(db, `INSERT INTO threads (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return {
    get: (threadId) => byId.get(threadId),
    list: () => all.all(),
    startedBy: (threadId, limit) => startedBy.all(threadId, limit),
    ensure: (threadId, workspaceId, owner, nowMs, more = {}) => {
      const known = byId.get(threadId);
      if (known !== undefined) return known;
      const { name = null, mode = 'Agent', parent_turn_id = null } = more;
      const called = name === null ? null : wellFormed(name);
      insert(threadId, workspaceId, owner, nowMs, called, mode, parent_turn_id);
      return {
        thread_id: threadId,
        workspace_id: workspaceId,
        owner,
        created_at_ms: nowMs,
        name: called,
        mode,
        parent_turn_id,
      };
    },
  };
}
