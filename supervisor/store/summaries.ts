// The summary that stands for the older part of a thread. Written only over the revision that it was made from.
import type { JsonObject } from '../../shared/json.js';
import type { Db } from './database.js';
import { decodeJson, encodeJson } from './payload.js';
import type { SummaryRow } from './rows.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

type Stored = Omit<SummaryRow, 'summary'> & { readonly summary: string };

export function summariesTable(db: Db): Store['summaries'] {
  const byThread = reading<Stored>(
    db,
    'SELECT thread_id, revision, upto_seq, summary, updated_at_ms FROM summaries WHERE thread_id = ?',
  );
  const insert = writing(
    db,
    `INSERT INTO summaries (thread_id, revision, upto_seq, summary, updated_at_ms) VALUES (?, 1, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const update = writing(
    db,
    `UPDATE summaries SET revision = revision + 1, upto_seq = ?, summary = ?, updated_at_ms = ?
     WHERE thread_id = ? AND revision = ?`,
  );
  return {
    get: (threadId) => {
      const row = byThread.get(threadId);
      return row === undefined ? undefined : { ...row, summary: decodeJson<JsonObject>(row.summary) };
    },
    replace: (threadId, baseRevision, uptoSeq, summary, nowMs) => {
      const text = encodeJson(summary);
      if (baseRevision === 0) return insert(threadId, uptoSeq, text, nowMs).changes > 0;
      return update(uptoSeq, text, nowMs, threadId, baseRevision).changes > 0;
    },
  };
}
