-- breaking: the first tables
--
-- Every table has an integer key that grows with time: it is the order of rows (clocks jump), and it lets a salvage
-- walk around damaged pages. Events are never changed once written.

CREATE TABLE workspaces (
  seq INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL UNIQUE,
  root TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE threads (
  seq INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
  owner TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE turns (
  seq INTEGER PRIMARY KEY,
  turn_id TEXT NOT NULL UNIQUE,
  thread_id TEXT NOT NULL REFERENCES threads (thread_id),
  state TEXT NOT NULL CHECK (state IN ('queued', 'starting', 'running', 'stopping', 'ended')),
  status TEXT CHECK (status IN ('completed', 'failed', 'cancelled', 'refused', 'exhausted_steps',
    'exhausted_tokens', 'deadline', 'loop_detected')),
  reply TEXT NOT NULL DEFAULT '',
  error_code TEXT,
  error_message TEXT,
  end_requested TEXT,
  model TEXT NOT NULL DEFAULT '',
  snapshot_hash TEXT,
  worker_id TEXT,
  pid INTEGER,
  pid_start TEXT,
  rounds INTEGER NOT NULL DEFAULT 0,
  tool_calls INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  ended_at_ms INTEGER,
  CHECK ((state = 'ended') = (status IS NOT NULL))
) STRICT;
CREATE INDEX turns_of_thread ON turns (thread_id);
CREATE INDEX turns_open ON turns (state) WHERE state <> 'ended';

CREATE TABLE inbox (
  seq INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE,
  turn_id TEXT NOT NULL UNIQUE REFERENCES turns (turn_id),
  thread_id TEXT NOT NULL REFERENCES threads (thread_id),
  principal TEXT NOT NULL,
  text TEXT NOT NULL,
  done INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1)),
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_pending ON inbox (seq) WHERE done = 0;

-- AUTOINCREMENT: a position is never given twice, so a reader's cursor stays true whatever is removed.
CREATE TABLE turn_events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  turn_id TEXT NOT NULL REFERENCES turns (turn_id),
  thread_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX turn_events_of_turn ON turn_events (turn_id);

CREATE TABLE tool_calls (
  seq INTEGER PRIMARY KEY,
  call_id TEXT NOT NULL UNIQUE,
  turn_id TEXT NOT NULL REFERENCES turns (turn_id),
  tool TEXT NOT NULL,
  call_index INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('requested', 'running', 'done', 'denied', 'interrupted', 'not_started')),
  arguments TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX tool_calls_open ON tool_calls (turn_id) WHERE state IN ('requested', 'running');

CREATE TABLE usage (
  seq INTEGER PRIMARY KEY,
  turn_id TEXT NOT NULL REFERENCES turns (turn_id),
  call_index INTEGER NOT NULL,
  model TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)),
  at_ms INTEGER NOT NULL,
  UNIQUE (turn_id, call_index)
) STRICT;

CREATE TABLE artifacts (
  seq INTEGER PRIMARY KEY,
  artifact_id TEXT NOT NULL UNIQUE,
  thread_id TEXT NOT NULL REFERENCES threads (thread_id),
  turn_id TEXT REFERENCES turns (turn_id),
  name TEXT NOT NULL,
  mime TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX artifacts_of_thread ON artifacts (thread_id);

CREATE TABLE memory (
  seq INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  value TEXT NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER
) STRICT;

CREATE TABLE plans (
  seq INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL UNIQUE REFERENCES threads (thread_id),
  plan TEXT NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;
