-- breaking: what is held and what is due; code that does not know it would start what is held and deliver nothing
--
-- The operator's hold, messages that are delivered at a later time, and remarks that wait for the next turn of a thread.

CREATE TABLE switches (
  seq INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK (name IN ('paused')),
  on_since_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE timers (
  seq INTEGER PRIMARY KEY,
  timer_id TEXT NOT NULL UNIQUE,
  due_at_ms INTEGER NOT NULL,
  thread_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
  principal TEXT NOT NULL,
  text TEXT NOT NULL,
  hop INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX timers_due ON timers (due_at_ms);

CREATE TABLE thread_notes (
  seq INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL REFERENCES threads (thread_id),
  text TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX thread_notes_of_thread ON thread_notes (thread_id);
