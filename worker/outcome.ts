// Builds the one outcome of a turn. Which of the eight ends it is has been decided by whoever calls.
import type { ErrorCode } from '../shared/errors.js';
import type { TurnOutcome } from '../shared/ipc/to-supervisor.js';
import type { JsonObject, JsonValue } from '../shared/json.js';
import type { TurnStatus } from '../shared/outcome.js';
import { wellFormed } from '../shared/transcript/unicode.js';
import { endReasonOf } from './link.js';
import type { Turn } from './turn-state.js';

type Unfinished = Exclude<TurnStatus, 'completed'>;

export function completed(turn: Turn, reply: string): TurnOutcome {
  return { status: 'completed', reply: wellFormed(reply), rounds: turn.rounds, tool_calls: turn.toolCalls };
}

/** An end without a full answer. `reply` is what there is for the person to read all the same. */
export function ended(
  turn: Turn,
  status: Unfinished,
  code: ErrorCode,
  message: string,
  reply = '',
): TurnOutcome {
  return { ...completed(turn, reply), status, error: { code, message } };
}

/** The end that came from outside: a cancel, a lost supervisor or the deadline. */
export function interrupted(turn: Turn): TurnOutcome {
  if (turn.end.why() === 'deadline')
    return ended(turn, 'deadline', 'deadline', 'the turn passed its deadline');
  const drained = turn.link.signal.aborted && endReasonOf(turn.link.signal) === 'drain';
  const message = drained ? 'the turn was cancelled by a shutdown' : 'the turn was cancelled';
  return ended(turn, 'cancelled', 'cancelled', message);
}

/** The end that the model asked for. `args` are those of a `finish` that succeeded. */
export function finished(turn: Turn, text: string, args: JsonObject): TurnOutcome {
  const output = outputText(args.output);
  const spoken = text.trim() === '' ? output : text;
  const reply = spoken.trim() === '' ? lastText(turn) : spoken;
  return { ...finishedAs(turn, args, reply, output), finish: args };
}

/** What the turn said last before it finished without a word: some models answer first and finish in a round of its own. */
function lastText({ history, ownFrom }: Turn): string {
  const own = history.slice(ownFrom);
  const said = own.findLast((message) => message.role === 'assistant' && message.text.trim() !== '');
  return said?.role === 'assistant' ? said.text : '';
}

function finishedAs(turn: Turn, args: JsonObject, reply: string, output: string): TurnOutcome {
  const reason = typeof args.reason === 'string' && args.reason.trim() !== '' ? args.reason : output;
  const why = (otherwise: string): string => (reason.trim() === '' ? otherwise : reason);
  switch (args.status) {
    case 'refused':
      return ended(turn, 'refused', 'refused', why('the model refused the task'), reply);
    case 'failed':
      return ended(turn, 'failed', 'finished_failed', why('the model reported a failure'), reply);
    case 'cancelled':
      return ended(turn, 'cancelled', 'cancelled', why('the model called the task off'), reply);
    default:
      return completed(turn, reply);
  }
}

/** A tool's or model's value as text for a person: strings as they are, the rest as JSON. */
export function outputText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
