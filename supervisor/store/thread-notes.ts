// Remarks that wait for the next turn of a thread.
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Db } from './database.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

export function threadNotesTable(db: Db): Store['threadNotes'] {
  const ofThread = reading<{ text: string }>(
    db,
    'SELECT text FROM thread_notes WHERE thread_id = ? ORDER BY seq',
  );
  const insert = writing(db, 'INSERT INTO thread_notes (thread_id, text, created_at_ms) VALUES (?, ?, ?)');
  const clear = writing(db, 'DELETE FROM thread_notes WHERE thread_id = ?');
  return {
    add: (threadId, text, nowMs) => void insert(threadId, wellFormed(text), nowMs),
    take: (threadId) => {
      const texts = ofThread.all(threadId).map((row) => row.text);
      if (texts.length > 0) clear(threadId);
      return texts;
    },
  };
}
