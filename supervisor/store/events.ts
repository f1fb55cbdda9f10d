// The journal. Rows are only ever appended; their order is the order in which things were made durable.
import type { JournalEvent } from '../../shared/journal.js';
import type { Db } from './database.js';
import { decodeJson, encodeJson } from './payload.js';
import { reading, writing } from './statement.js';
import type { EventRow, Store } from './types.js';

interface Stored {
  readonly seq: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly at_ms: number;
  readonly payload: string;
}

const COLUMNS = 'e.seq, e.turn_id, e.thread_id, e.at_ms, e.payload';

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
  const insert = writing(
    db,
    'INSERT INTO turn_events (turn_id, thread_id, at_ms, payload) VALUES (?, ?, ?, ?)',
  );
  return {
    append: (turnId, threadId, event, nowMs) =>
      Number(insert(turnId, threadId, nowMs, encodeJson(event)).lastInsertRowid),
    ofTurn: (turnId, afterSeq = 0) => ofTurn.all(turnId, afterSeq).map(eventOf),
    ofThread: (threadId) => ofThread.all(threadId).map(eventOf),
  };
}

function eventOf({ payload, ...row }: Stored): EventRow {
  return { ...row, event: decodeJson<JournalEvent>(payload) };
}
