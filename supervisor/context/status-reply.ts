// How things stand, as the one who asks may see it: the plan of the thread, what waits and runs on his behalf, and how
// the last turns of the thread ended. Read from the store, without a model.
import type { JsonValue } from '../../shared/json.js';
import { cutText } from '../../shared/transcript/unicode.js';
import type { InboxRow, TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { isObject } from './decision.js';

const LAST_TURNS = 5;
const OWN_TURNS = 10;
const LINE_BYTES = 120;

export interface StatusAsker {
  readonly turnId: string;
  readonly threadId: string;
  readonly principal: string;
  /** Sees the work of everybody. */
  readonly seesAll: boolean;
}

export function statusReply(store: Store, asker: StatusAsker): string {
  const open = store.inbox
    .pending()
    .filter((row) => row.turn_id !== asker.turnId && (asker.seesAll || row.principal === asker.principal));
  const sections = [workLines(store, open), planLines(store, asker.threadId), lastLines(store, asker)];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function workLines(store: Store, open: readonly InboxRow[]): string[] {
  if (open.length === 0) return ['Nothing else is running or waiting.'];
  const stated = open.map((row) => ({ row, turn: store.turns.get(row.turn_id) }));
  const waiting = stated.filter(({ turn }) => turn?.state === 'queued').length;
  const head = `${open.length - waiting} running, ${waiting} waiting:`;
  const lines = stated.slice(0, OWN_TURNS).map(({ row, turn }) => {
    const state = turn === undefined || turn.state === 'queued' ? 'waiting' : turn.state;
    return `- ${state}, thread ${row.thread_id}: ${oneLine(row.text)}`;
  });
  if (open.length > OWN_TURNS) lines.push(`- and ${open.length - OWN_TURNS} more`);
  return [head, ...lines];
}

function planLines(store: Store, threadId: string): string[] {
  const plan = store.plans.get(threadId);
  if (plan === undefined || !Array.isArray(plan.items)) return [];
  const items = plan.items.filter(isObject);
  const done = items.filter(({ status }) => status === 'done' || status === 'skipped').length;
  return [
    `Plan: ${oneLine(textOf(plan.goal))} (${done} of ${items.length} done)`,
    ...items.map(({ title, status }) => `- ${textOf(status)}: ${oneLine(textOf(title))}`),
  ];
}

function lastLines(store: Store, { threadId, turnId }: StatusAsker): string[] {
  const ended = store.turns
    .ofThread(threadId)
    .filter((turn) => turn.turn_id !== turnId && turn.state === 'ended')
    .slice(-LAST_TURNS);
  if (ended.length === 0) return [];
  return ['Last in this thread:', ...ended.map((turn) => `- ${turnLine(store, turn)}`)];
}

function turnLine(store: Store, turn: TurnRow): string {
  const asked = oneLine(store.inbox.ofTurn(turn.turn_id)?.text ?? '');
  const why = turn.error_message === null ? '' : ` (${oneLine(turn.error_message)})`;
  return `${turn.status ?? 'ended'}${why}: ${asked}`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const cut = cutText(line, LINE_BYTES);
  return cut.length < line.length ? `${cut}…` : cut;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
