-- compatible: what a client calls a thread, and whether its turns have tools

ALTER TABLE threads ADD COLUMN name TEXT;
ALTER TABLE threads ADD COLUMN mode TEXT NOT NULL DEFAULT 'Agent' CHECK (mode IN ('Chat', 'Agent'));
