// Where to cut a conversation: what is folded, and what stays word for word. Pure. A cut never separates a call from its
// results, never passes a turn that is still to come, and keeps the newest by number and by size.
import { estimateMessages } from '../../shared/transcript/estimate-tokens.js';
import { messagesOf } from '../../shared/transcript/from-journal.js';
import type { EventRow } from '../store/rows.js';

export interface PlanInput {
  /** What a model is shown word for word at present, in the order of the conversation. */
  readonly rows: readonly EventRow[];
  /** The turn at work; null between turns. */
  readonly currentTurnId: string | null;
  /** Messages that stay. */
  readonly keepLast: number;
  /** What stays takes at most this much, by our estimate. */
  readonly keepTokens: number;
  /** False when an earlier turn of the thread is still to run: what comes after it cannot be folded before it. */
  mayFoldThrough(turnId: string): boolean;
}

export interface Plan {
  readonly fold: readonly EventRow[];
  readonly keep: readonly EventRow[];
  /** The last event that is folded. */
  readonly through: { readonly turnId: string; readonly seq: number };
}

/** Events that stay together: a message with the results of its calls, and what was noted between. */
interface Unit {
  readonly rows: EventRow[];
  readonly turnId: string;
  readonly asks: boolean;
  readonly messages: number;
  readonly tokens: number;
}

/** Null when nothing can be folded. */
export function planCompaction(input: PlanInput): Plan | null {
  const units = unitsOf(input.rows);
  let from = backToRequest(units, keptFrom(units, input), input);
  for (let turn = units[from - 1]?.turnId; turn !== undefined; turn = units[from - 1]?.turnId) {
    if (input.mayFoldThrough(turn)) break;
    from -= 1;
  }
  const fold = units.slice(0, from).flatMap((unit) => unit.rows);
  const last = fold.at(-1);
  if (last === undefined) return null;
  return {
    fold,
    keep: units.slice(from).flatMap((unit) => unit.rows),
    through: { turnId: last.turn_id, seq: last.seq },
  };
}

/** Index of the first unit that stays. */
function keptFrom(units: readonly Unit[], { keepLast, keepTokens, currentTurnId }: PlanInput): number {
  let from = units.length;
  let messages = 0;
  let tokens = 0;
  for (const [index, unit] of [...units.entries()].toReversed()) {
    messages += unit.messages;
    tokens += unit.tokens;
    // What the model has not seen yet stays whatever its size; it is shortened where it is shown.
    const unseen = index === units.length - 1 && unit.turnId === currentTurnId;
    if (!unseen && (tokens > keepTokens || (messages > keepLast && index < units.length - 1))) break;
    from = index;
  }
  return from;
}

/** A cut within a turn moves back to its request, where that is near. */
function backToRequest(units: readonly Unit[], from: number, { keepLast, keepTokens }: PlanInput): number {
  const first = units[from];
  if (first === undefined || first.asks) return from;
  const request = units.findLastIndex(
    (unit, index) => index < from && unit.asks && unit.turnId === first.turnId,
  );
  if (request < 0) return from;
  const kept = units.slice(request);
  const near =
    sum(kept, (unit) => unit.tokens) <= keepTokens && sum(kept, (unit) => unit.messages) <= 2 * keepLast;
  return near ? request : from;
}

function sum(units: readonly Unit[], of: (unit: Unit) => number): number {
  return units.reduce((total, unit) => total + of(unit), 0);
}

function unitsOf(rows: readonly EventRow[]): Unit[] {
  const groups: EventRow[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    const begins = row.event.kind === 'user_message' || row.event.kind === 'assistant_message';
    if (last === undefined || begins || last[0]?.turn_id !== row.turn_id) groups.push([row]);
    else last.push(row);
  }
  return joined(groups).map((group) => {
    const messages = messagesOf(group.map(({ event }) => event));
    return {
      rows: group,
      turnId: group[0]?.turn_id ?? '',
      asks: group[0]?.event.kind === 'user_message',
      messages: messages.length,
      tokens: estimateMessages(messages),
    };
  });
}

/** Joins groups where a result stands in a later one than its call. */
function joined(groups: readonly EventRow[][]): EventRow[][] {
  const home = new Map<string, number>();
  const reach = groups.map((_, index) => index);
  for (const [index, group] of groups.entries()) {
    for (const { event } of group) {
      if (event.kind === 'assistant_message') for (const call of event.calls) home.set(call.call_id, index);
      const from = event.kind === 'tool_result' ? home.get(event.call_id) : undefined;
      if (from !== undefined) reach[from] = Math.max(reach[from] ?? from, index);
    }
  }
  const units: EventRow[][] = [];
  let until = -1;
  for (const [index, group] of groups.entries()) {
    if (index <= until) units.at(-1)?.push(...group);
    else units.push([...group]);
    until = Math.max(until, reach[index] ?? index);
  }
  return units;
}
