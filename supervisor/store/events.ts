// The journal. Rows are only ever appended; their order is the order in which things were made durable.
import type { JournalEvent } from '../../shared/journal.js';
import type { Db } from './database.js';
import { decodeJson, encodeJson } from './payload.js';
import type { Cut, EventRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

interface Stored {
  readonly seq: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly at_ms: number;
  readonly payload: string;
}

const COLUMNS = 'e.seq, e.turn_id, e.thread_id, e.at_ms, e.payload';

/** Turns of the thread from a turn on; of that one its first event, and those from a position on. */
const SHOWN = `FROM turns t CROSS JOIN turn_events e ON e.turn_id = t.turn_id
  WHERE t.thread_id = ? AND t.seq >= ifnull((SELECT seq FROM turns WHERE turn_id = ?), 0)
    AND (t.state = 'ended' OR t.turn_id = ?)
    AND (t.turn_id <> ? OR e.seq > ? OR e.seq = (SELECT min(seq) FROM turn_events WHERE turn_id = t.turn_id))`;

export function eventsTable(db: Db): Store['events'] {
  const ofTurn = reading<Stored>(
    db,
    `SELECT ${COLUMNS} FROM turn_events e WHERE e.turn_id = ? AND e.seq > ? ORDER BY e.seq`,
  );
  const ofThread = reading<Stored>(
    db,
    `SELECT ${COLUMNS} FROM turns t CROSS JOIN turn_events e ON e.turn_id = t.turn_id
     WHERE t.thread_id = ? ORDER BY e.seq`,
  );
  const shown = reading<Stored>(db, `SELECT ${COLUMNS} ${SHOWN} ORDER BY t.seq, e.seq`);
  const shownBytes = reading<{ bytes: number }>(
    db,
    `SELECT ifnull(sum(octet_length(e.payload)), 0) AS bytes ${SHOWN}`,
  );
  const insert = writing(
    db,
    'INSERT INTO turn_events (turn_id, thread_id, at_ms, payload) VALUES (?, ?, ?, ?)',
  );
  return {
    append: (turnId, threadId, event, nowMs) =>
      Number(insert(turnId, threadId, nowMs, encodeJson(event)).lastInsertRowid),
    ofTurn: (turnId, afterSeq = 0) => ofTurn.all(turnId, afterSeq).map(eventOf),
    ofThread: (threadId) => ofThread.all(threadId).map(eventOf),
    shown: (threadId, turnId, cut) => {
      const rows = shown.all(...shownBinds(threadId, turnId, cut)).map(eventOf);
      const before = rows.filter((row) => row.turn_id !== turnId);
      return before.length === rows.length
        ? rows
        : [...before, ...rows.filter((row) => row.turn_id === turnId)];
    },
    shownBytes: (threadId, turnId, cut) => shownBytes.get(...shownBinds(threadId, turnId, cut))?.bytes ?? 0,
  };
}

function shownBinds(
  threadId: string,
  turnId: string,
  cut: Cut | null,
): [string, string, string, string, number] {
  const cutTurn = cut?.turnId ?? '';
  return [threadId, cutTurn, turnId, cutTurn, cut?.seq ?? 0];
}

function eventOf({ payload, ...row }: Stored): EventRow {
  return { ...row, event: decodeJson<JournalEvent>(payload) };
}
