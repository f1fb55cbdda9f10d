// What a turn has behind it when it goes on in a later window: how far it came, and what its last answer still asks of
// it. All of it is read from the journal, so it is the same whoever was lost.

import type { TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject } from '../../shared/json.js';
import type { Store } from '../store/types.js';

type Prior = NonNullable<TurnSnapshot['prior']>;
/** Tells the model that its commands are gone; no answer to what it said. */
export const SESSIONS_ENDED =
  'This turn was paused and goes on in a new process. Commands that still ran as sessions were ended with the old one.';

type Said = Extract<JournalEvent, { kind: 'assistant_message' }>;

/** Undefined before the first window. */
export function priorOf(store: Store, turnId: string): Prior | undefined {
  const turn = store.turns.get(turnId);
  if (turn === undefined || turn.windows === 0) return undefined;
  const events = store.events.ofTurn(turnId).map(({ event }) => event);
  const { input_tokens, output_tokens } = store.usage.ofTurn(turnId);
  const tree = store.usage.ofTree(turnId);
  const below = tree.input_tokens + tree.output_tokens - input_tokens - output_tokens;
  return {
    rounds: Math.max(turn.rounds, roundsOf(events)),
    tokens: input_tokens + output_tokens,
    ...(below === 0 ? {} : { subagent_tokens: below }),
    calls: events.reduce(
      (sum, event) => sum + (event.kind === 'assistant_message' ? event.calls.length : 0),
      0,
    ),
    tool_calls: events.filter((event) => event.kind === 'tool_intent').length,
    ...lastWords(events),
  };
}

function roundsOf(events: readonly JournalEvent[]): number {
  let rounds = 0;
  for (const event of events) {
    if (event.kind === 'assistant_message') rounds = Math.max(rounds, event.round);
    // Of the turn's own loop; what was asked beside it is numbered on its own.
    if (event.kind === 'usage' && event.purpose === undefined) rounds = Math.max(rounds, event.call_index);
  }
  return rounds;
}

/** Text of answers that were cut and are being continued, and an answer that was recorded but not acted upon. */
function lastWords(events: readonly JournalEvent[]): Pick<Prior, 'unfinished' | 'last'> {
  let unfinished = '';
  let last: Said | null = null;
  for (const event of events) {
    // A remark of ours follows an answer that was not enough.
    if (event.kind === 'note' && event.text !== SESSIONS_ENDED) last = null;
    if (event.kind !== 'assistant_message') continue;
    const whole = event.calls.length === 0 ? unfinished + event.text : event.text;
    last = { ...event, text: whole };
    unfinished = event.calls.length === 0 && event.stop === 'length' ? whole : '';
  }
  const cut = unfinished === '' ? {} : { unfinished };
  if (last === null) return cut;
  const finish = finishOf(events, last);
  if (last.calls.length > 0 && finish === undefined) return cut;
  const { text, stop } = last;
  return { ...cut, last: { text, stop, ...(finish === undefined ? {} : { finish }) } };
}

/** The arguments of its `finish`, if it called that and it succeeded. */
function finishOf(events: readonly JournalEvent[], said: Said): JsonObject | undefined {
  const done = new Set(
    events.flatMap((event) =>
      event.kind === 'tool_result' && event.tool === 'finish' && !event.is_error ? [event.call_id] : [],
    ),
  );
  return said.calls.find((call) => done.has(call.call_id))?.arguments;
}
