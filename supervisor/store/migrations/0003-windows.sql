-- breaking: turns that go on in a later window; code that does not know it would end them or start them twice
--
-- Who wrote a message and how urgent it is, what a turn may do, how often and how long it ran, and what it waits for.

ALTER TABLE inbox ADD COLUMN producer TEXT NOT NULL DEFAULT 'job';
ALTER TABLE inbox ADD COLUMN lane TEXT NOT NULL DEFAULT 'person' CHECK (lane IN ('person', 'background'));
ALTER TABLE inbox ADD COLUMN hop INTEGER NOT NULL DEFAULT 0;

ALTER TABLE turns ADD COLUMN parent_turn_id TEXT;
ALTER TABLE turns ADD COLUMN options TEXT NOT NULL DEFAULT '{}';
ALTER TABLE turns ADD COLUMN windows INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN active_ms INTEGER NOT NULL DEFAULT 0;
CREATE INDEX turns_of_parent ON turns (parent_turn_id) WHERE parent_turn_id IS NOT NULL;

-- A call that cannot be answered at once. It is open until its answer is written together with the call's result, or
-- until its turn ends.
CREATE TABLE waits (
  seq INTEGER PRIMARY KEY,
  wait_id TEXT NOT NULL UNIQUE,
  turn_id TEXT NOT NULL REFERENCES turns (turn_id),
  thread_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  subject TEXT NOT NULL,
  wake_at_ms INTEGER,
  open INTEGER NOT NULL DEFAULT 1 CHECK (open IN (0, 1)),
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX waits_open ON waits (turn_id) WHERE open = 1;

-- What stands for the older part of a thread when it is shown to a model. The events themselves stay.
CREATE TABLE summaries (
  seq INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL UNIQUE REFERENCES threads (thread_id),
  revision INTEGER NOT NULL,
  upto_seq INTEGER NOT NULL,
  summary TEXT NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;

-- One row per model call of a turn, and of what was asked on its behalf.
ALTER TABLE usage RENAME TO usage_before;
CREATE TABLE usage (
  seq INTEGER PRIMARY KEY,
  turn_id TEXT NOT NULL REFERENCES turns (turn_id),
  purpose TEXT NOT NULL DEFAULT 'turn',
  call_index INTEGER NOT NULL,
  model TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)),
  at_ms INTEGER NOT NULL,
  cost_micros INTEGER,
  UNIQUE (turn_id, purpose, call_index)
) STRICT;
INSERT INTO usage (seq, turn_id, call_index, model, input_tokens, output_tokens, cached_tokens, estimated, at_ms, cost_micros)
  SELECT seq, turn_id, call_index, model, input_tokens, output_tokens, cached_tokens, estimated, at_ms, cost_micros
  FROM usage_before;
DROP TABLE usage_before;
