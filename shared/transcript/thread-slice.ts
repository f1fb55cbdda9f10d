// What a model is shown of a thread: the summary of its folded part, then the events behind the cut word for word, made
// to fit. Pure; whoever reads the store hands in what it found.
import type { JournalEvent } from '../journal.js';
import { canonicalJson, type JsonObject } from '../json.js';
import { estimateMessages } from './estimate-tokens.js';
import { fitHistory } from './fit.js';
import { messagesOf } from './from-journal.js';
import type { Message } from './message.js';
import { renderSummary } from './render-summary.js';
import { repairHistory } from './repair.js';
import type { SummaryBlock } from './summary.js';
import { sendableText } from './unicode.js';

export interface SliceRow {
  readonly seq: number;
  readonly turn_id: string;
  readonly event: JournalEvent;
}

export interface SliceInput {
  /** In the order of the conversation; of the turn with the cut, its first event may stand before it. */
  readonly rows: readonly SliceRow[];
  readonly summary: SummaryBlock | null;
  /** Position of the last folded event. */
  readonly cutSeq: number;
  /** The turn at work; its request is always shown. Null between turns. */
  readonly turnId: string | null;
  /** As it is now. */
  readonly plan: JsonObject | null;
  /** Calls of the thread that wait for an answer, each in a few words. */
  readonly waiting: readonly string[];
  /** By our estimate; `Infinity` shows everything as it is. */
  readonly roomTokens: number;
  /** False: the room bounds the summary only, and messages stay as they are. */
  readonly fit: boolean;
  /** Turn → artifact that holds its message whole. */
  readonly handles: ReadonlyMap<string, string>;
}

/** The summary takes at most this part of the room, and never more than what a careful reader would read. */
const SUMMARY_SHARE = 0.35;
const SUMMARY_CHARS_MAX = 48_000;
const SUMMARY_CHARS_MIN = 2_000;
const CHARS_PER_TOKEN = 4;

export function threadSlice(input: SliceInput): Message[] {
  const { summary, roomTokens } = input;
  const rows = shownRows(input);
  const handles = new Map<Message, string>();
  const said: Message[] = [];
  for (const row of rows) {
    for (const message of messagesOf([row.event])) {
      said.push(message);
      const handle = message.role === 'user' ? input.handles.get(row.turn_id) : undefined;
      if (handle !== undefined) handles.set(message, handle);
    }
  }
  const front = summary === null ? [] : [frontOf(input, summary, rows)];
  const notes = summary === null ? [] : planNote(input, summary, rows);
  const whole = repairHistory(withNotes(said, notes));
  const room = roomTokens - estimateMessages(front);
  return [...front, ...(input.fit ? fitHistory(whole, room, handles) : whole)];
}

/** The events behind the cut, and before them the request of a turn that the cut divides. */
function shownRows({ rows, summary, cutSeq, turnId }: SliceInput): readonly SliceRow[] {
  if (summary === null) return rows;
  const { through_turn: divided } = summary;
  const goesOn = rows.some((row) => row.turn_id === divided && row.seq > cutSeq && isSaid(row.event));
  return rows.filter(
    (row) => row.turn_id !== divided || row.seq > cutSeq || goesOn || row.turn_id === turnId,
  );
}

function isSaid(event: JournalEvent): boolean {
  return messagesOf([event]).length > 0;
}

function frontOf(input: SliceInput, summary: SummaryBlock, rows: readonly SliceRow[]): Message {
  const room = Math.floor(input.roomTokens * SUMMARY_SHARE * CHARS_PER_TOKEN);
  const shown = rows.some(
    ({ turn_id, event }) => turn_id === summary.through_turn && event.kind === 'user_message',
  );
  const text = renderSummary(summary, {
    maxChars: Math.max(SUMMARY_CHARS_MIN, Math.min(SUMMARY_CHARS_MAX, room)),
    shownTurnId: shown ? summary.through_turn : undefined,
    waiting: input.waiting,
  });
  return { role: 'system', text: sendableText(text) };
}

/** A plan that was changed by something that the conversation does not show. */
function planNote({ plan }: SliceInput, summary: SummaryBlock, rows: readonly SliceRow[]): string[] {
  if (plan === null) return [];
  if (rows.some(({ event }) => event.kind === 'tool_result' && event.tool.startsWith('plan.'))) return [];
  const now = canonicalJson(plan);
  return summary.plan !== null && canonicalJson(summary.plan) === now ? [] : [`The plan is now: ${now}`];
}

/** Before the newest request: what is older keeps its place in the caches of providers. */
function withNotes(messages: readonly Message[], notes: readonly string[]): readonly Message[] {
  if (notes.length === 0) return messages;
  const at = messages.findLastIndex((message) => message.role === 'user');
  const written = notes.map((text): Message => ({ role: 'note', text }));
  return at < 0 ? [...messages, ...written] : [...messages.slice(0, at), ...written, ...messages.slice(at)];
}
