// What a turn sees of its thread: the summary of what was folded, every later turn that has ended, and its own events
// last. A message that waits behind it is not part of it yet. Reads no further back than the cut.
import { LONG_MESSAGE_CHARS, messageArtifactName } from '../../shared/transcript/long-message.js';
import type { Message } from '../../shared/transcript/message.js';
import { readSummary, type SummaryBlock } from '../../shared/transcript/summary.js';
import { threadSlice } from '../../shared/transcript/thread-slice.js';
import type { EventRow } from '../store/rows.js';
import type { Store } from '../store/types.js';

interface SliceQuery {
  readonly threadId: string;
  readonly turnId: string;
  /** By our estimate: larger messages are shortened until all fit. Left out: everything as it is. */
  readonly roomTokens?: number;
  /** False: only the summary heeds the room. */
  readonly fit?: boolean;
  /** As if this were what is folded, instead of what is stored. */
  readonly folded?: Folded;
}

interface Folded {
  readonly summary: SummaryBlock;
  readonly cutSeq: number;
}

/** What a turn is shown, as it is stored. */
export function transcriptSlice(
  store: Store,
  threadId: string,
  turnId: string,
  roomTokens = Number.POSITIVE_INFINITY,
): Message[] {
  return threadView(store, { threadId, turnId, roomTokens });
}

export function threadView(store: Store, query: SliceQuery): Message[] {
  const { threadId, turnId } = query;
  const folded = query.folded ?? storedFold(store, threadId);
  const cut = folded === null ? null : { turnId: folded.summary.through_turn, seq: folded.cutSeq };
  const rows = store.events.shown(threadId, turnId, cut);
  return threadSlice({
    rows,
    summary: folded?.summary ?? null,
    cutSeq: folded?.cutSeq ?? 0,
    turnId,
    plan: folded === null ? null : (store.plans.get(threadId) ?? null),
    waiting: folded === null ? [] : waitingOf(store, turnId),
    roomTokens: query.roomTokens ?? Number.POSITIVE_INFINITY,
    fit: query.fit ?? true,
    handles: handlesOf(store, threadId, rows),
  });
}

function storedFold(store: Store, threadId: string): Folded | null {
  const row = store.summaries.get(threadId);
  return row === undefined ? null : { summary: readSummary(row.summary), cutSeq: row.upto_seq };
}

function handlesOf(store: Store, threadId: string, rows: readonly EventRow[]): Map<string, string> {
  const handles = new Map<string, string>();
  for (const { turn_id, event } of rows) {
    if (event.kind !== 'user_message' || event.text.length <= LONG_MESSAGE_CHARS) continue;
    const [artifact] = store.artifacts.list(threadId, messageArtifactName(turn_id), 1);
    if (artifact !== undefined) handles.set(turn_id, artifact.artifact_id);
  }
  return handles;
}

function waitingOf(store: Store, turnId: string): string[] {
  return store.waits
    .openOf(turnId)
    .map(({ wait_id, tool, subject }) => `${tool} (${wait_id}): ${JSON.stringify(subject)}`);
}
