// After a salvage: gives rows whose parents were lost a parent again, so that what was saved can be reached.
// A turn that comes back this way has ended, whatever it was: nothing is ever run from a guess.
import type { Db } from './database.js';

const CHILDREN_OF_TURNS = ['turn_events', 'inbox', 'tool_calls', 'usage', 'reservations', 'waits'];

/** The owner of a thread whose record was lost: only an operator may reach it until someone says otherwise. */
const LOST_OWNER = 'operator';

export function mendReferences(db: Db, nowMs: number): void {
  const threads = ['turns', 'turn_events', 'inbox', 'artifacts', 'plans']
    .map((table) => `SELECT thread_id FROM ${table}`)
    .join(' UNION ');
  db.exec(`
    INSERT INTO turns (turn_id, thread_id, state, status, error_code, error_message, created_at_ms, ended_at_ms)
      SELECT turn_id, min(thread_id), 'ended', 'failed', 'state_damaged',
        'the record of this turn was lost with a damaged database', min(at_ms), max(at_ms)
      FROM (SELECT turn_id, thread_id, at_ms FROM turn_events
        UNION ALL SELECT turn_id, thread_id, created_at_ms FROM inbox)
      WHERE turn_id NOT IN (SELECT turn_id FROM turns) GROUP BY turn_id;
    INSERT INTO threads (thread_id, workspace_id, owner, created_at_ms)
      SELECT thread_id, 'workspace_lost', '${LOST_OWNER}', ${Math.trunc(nowMs)} FROM (${threads})
      WHERE thread_id NOT IN (SELECT thread_id FROM threads);
    INSERT INTO workspaces (workspace_id, root, created_at_ms)
      SELECT DISTINCT workspace_id, '/lost/' || workspace_id, ${Math.trunc(nowMs)} FROM threads
      WHERE workspace_id NOT IN (SELECT workspace_id FROM workspaces);
    UPDATE inbox SET done = 1 WHERE turn_id IN (SELECT turn_id FROM turns WHERE state = 'ended');
    UPDATE waits SET open = 0 WHERE turn_id IN (SELECT turn_id FROM turns WHERE state = 'ended');
    UPDATE artifacts SET turn_id = NULL WHERE turn_id NOT IN (SELECT turn_id FROM turns);
  `);
  for (const table of CHILDREN_OF_TURNS)
    db.exec(`DELETE FROM ${table} WHERE turn_id NOT IN (SELECT turn_id FROM turns)`);
}
