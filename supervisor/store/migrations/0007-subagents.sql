-- breaking: threads that belong to a turn; code that does not know them would let them outlive it
--
-- A subagent is a thread of its own that names the turn which started it; a conversation of a person names none.

ALTER TABLE threads ADD COLUMN parent_turn_id TEXT;
CREATE INDEX threads_of_parent ON threads (parent_turn_id) WHERE parent_turn_id IS NOT NULL;
