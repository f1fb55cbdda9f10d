-- compatible: what providers' numbers say about our estimates; code that does not know it estimates as before

CREATE TABLE calibrations (
  seq INTEGER PRIMARY KEY,
  model TEXT NOT NULL UNIQUE,
  ratio REAL NOT NULL,
  samples INTEGER NOT NULL,
  -- A request of this size was refused as too long, and when.
  too_long_tokens INTEGER,
  too_long_at_ms INTEGER,
  updated_at_ms INTEGER NOT NULL
) STRICT;
