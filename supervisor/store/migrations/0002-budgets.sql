-- breaking: what budgets count; code that does not know it would spend without counting
--
-- Money is in millionths of a US dollar, as whole numbers: sums of it stay exact.

ALTER TABLE usage ADD COLUMN cost_micros INTEGER;

-- What one payer spent within one window, which is known by its start: a clock that is set back finds it again.
CREATE TABLE spending (
  seq INTEGER PRIMARY KEY,
  payer TEXT NOT NULL,
  per TEXT NOT NULL,
  starts_at_ms INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  UNIQUE (payer, per, starts_at_ms)
) STRICT;

-- What turns hold back for the model call that they make or are about to make.
CREATE TABLE reservations (
  seq INTEGER PRIMARY KEY,
  turn_id TEXT NOT NULL REFERENCES turns (turn_id),
  purpose TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  principal TEXT NOT NULL,
  call_index INTEGER,
  model TEXT NOT NULL,
  degraded INTEGER NOT NULL CHECK (degraded IN (0, 1)),
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  UNIQUE (turn_id, purpose)
) STRICT;
