// The round loop: ask the model, run what it calls, ask again, until it answers or one of the limits ends the turn.
// An answer with tool calls acts; an answer without is the reply. Eight ends, exactly one per turn.
import type { TurnOutcome } from '../shared/ipc/to-supervisor.js';
import type { JsonObject } from '../shared/json.js';
import type { ToolCall } from '../shared/transcript/message.js';
import { wellFormed } from '../shared/transcript/unicode.js';
import { type AnswerCheck, answerCheck } from './answer.js';
import { foldAfterRefusal, foldIfCrowded } from './fold.js';
import { completed, ended, finished, interrupted, outputText } from './outcome.js';
import { readCalls } from './read-calls.js';
import { type Asked, admit, askModel } from './round.js';
import { runBatch } from './tool-batch.js';
import { openTurn, remark, type Turn, type TurnInput } from './turn-state.js';

type Answered = Extract<Asked, { kind: 'answer' }>;
/** Null: the turn goes on with another round. */
type Next = TurnOutcome | null;

/** How often in a row each of these is answered with another round before the turn fails. */
const EMPTY_RETRIES = 1;
const CONTINUATIONS = 2;
const SCHEMA_REASKS = 2;
const INVALID_ROUNDS = 5;

const GO_ON =
  'Your answer was cut by the output limit. Go on exactly where it stopped, without repeating anything.';

/** Plays one turn to its end. Never rejects for what a model, a tool or a supervisor does. */
export async function runTurn(input: TurnInput): Promise<TurnOutcome> {
  const turn = openTurn(input);
  try {
    const { output_schema: schema } = input.snapshot;
    const check = schema === undefined ? undefined : await answerCheck(schema);
    if (check === null) return ended(turn, 'failed', 'usage', 'the output schema is not a valid JSON Schema');
    let outcome = goOnFrom(turn, check);
    while (outcome === null) outcome = await playRound(turn, check);
    return outcome;
  } finally {
    turn.end.close();
  }
}

/** An earlier window may have recorded an answer without acting upon it: the model is not asked for it again. */
function goOnFrom(turn: Turn, check: AnswerCheck | undefined): Next {
  const last = turn.snapshot.prior?.last;
  if (last === undefined) return null;
  if (turn.end.why() !== null) return interrupted(turn);
  if (last.finish !== undefined) return finish(turn, last.text, last.finish, check);
  if (last.stop === 'refusal') return completed(turn, last.text);
  if (last.stop !== 'length') return weigh(turn, last.text, check);
  remark(turn, GO_ON);
  return null;
}

/** Guards in fixed order, then one model call and what follows from its answer. */
async function playRound(turn: Turn, check: AnswerCheck | undefined): Promise<Next> {
  const { limits } = turn.snapshot;
  if (turn.end.why() !== null) return interrupted(turn);
  // A request that no server took was not a round of this turn's work.
  if (turn.rounds - turn.fallen >= limits.rounds)
    return ended(
      turn,
      'exhausted_steps',
      'exhausted_steps',
      `the turn used all of its ${limits.rounds} rounds`,
    );
  if (turn.used.input_tokens + turn.used.output_tokens + turn.subagentTokens >= limits.tokens)
    return ended(
      turn,
      'exhausted_tokens',
      'exhausted_tokens',
      `the turn used all of its ${limits.tokens} tokens`,
    );
  const crowded = await foldIfCrowded(turn);
  if (turn.end.why() !== null) return interrupted(turn);
  if (crowded !== null) return crowded;
  const admission = await admit(turn);
  if (admission.kind === 'over') return admission.outcome;
  const asked = await askModel(turn, admission.model);
  if (asked.kind === 'again') return null;
  if (asked.kind === 'over')
    return refusedAsTooLong(asked.outcome) ? foldOrEnd(turn, asked.outcome) : asked.outcome;
  const { answer } = asked;
  if (answer.stop === 'refusal') return refusal(turn, asked);
  return answer.calls.length > 0 ? act(turn, asked, check) : reply(turn, asked, check);
}

function refusedAsTooLong({ status, error }: TurnOutcome): boolean {
  return status === 'failed' && error?.code === 'context_exhausted';
}

async function foldOrEnd(turn: Turn, outcome: TurnOutcome): Promise<Next> {
  const folded = await foldAfterRefusal(turn);
  if (turn.end.why() !== null) return interrupted(turn);
  return folded ? null : outcome;
}

async function act(turn: Turn, asked: Answered, check: AnswerCheck | undefined): Promise<Next> {
  const { answer } = asked;
  const cut = answer.stop === 'length';
  const calls = readCalls(answer.calls, turn.snapshot.tools, cut, turn.clock.now());
  const text = record(
    turn,
    asked,
    calls.map(({ call }) => call),
  );
  turn.unfinished = '';
  turn.streak.empty = 0;
  turn.streak.cut = 0;
  const batch = await runBatch(turn, calls);
  turn.history.push(...batch.results);
  turn.folds.asked ||= batch.compact;
  if (turn.end.why() !== null) return interrupted(turn);
  if (batch.loop !== null) return ended(turn, 'loop_detected', 'loop_detected', batch.loop);
  if (batch.finish !== null) return finish(turn, text, batch.finish, check);
  for (const hint of batch.hints) remark(turn, hint);
  return invalidRounds(turn, batch.allInvalid, cut);
}

/** A model that keeps sending calls which cannot be run is not asked for ever. */
function invalidRounds(turn: Turn, invalid: boolean, cut: boolean): Next {
  turn.streak.invalid = invalid ? turn.streak.invalid + 1 : 0;
  if (turn.streak.invalid < INVALID_ROUNDS) return null;
  if (cut)
    return ended(
      turn,
      'failed',
      'output_truncated',
      'the output limit kept cutting the answer before its calls were whole',
    );
  const times = `${INVALID_ROUNDS} answers in a row`;
  return ended(turn, 'failed', 'invalid_tool_calls', `the model sent only invalid tool calls in ${times}`);
}

/** The text of an answer without calls: the reply, or a reason to ask again. */
function reply(turn: Turn, asked: Answered, check: AnswerCheck | undefined): Next {
  const text = record(turn, asked, []);
  if (asked.answer.stop === 'length') return goOn(turn, text);
  if (text === '') return askAgain(turn);
  turn.streak.empty = 0;
  const whole = turn.unfinished + text;
  turn.unfinished = '';
  turn.streak.cut = 0;
  turn.streak.invalid = 0;
  return weigh(turn, whole, check);
}

/** A whole answer is the reply, if it is what was asked for. */
function weigh(turn: Turn, whole: string, check: AnswerCheck | undefined): Next {
  if (check === undefined) return completed(turn, whole);
  const checked = check(whole);
  return checked.ok ? completed(turn, checked.reply) : correct(turn, whole, checked.problem);
}

function goOn(turn: Turn, text: string): Next {
  turn.unfinished += text;
  turn.streak.cut += 1;
  if (turn.streak.cut > CONTINUATIONS) {
    const message = 'the output limit cut the answer, and cut it again each time it was continued';
    return ended(turn, 'failed', 'output_truncated', message, turn.unfinished);
  }
  remark(turn, GO_ON);
  return null;
}

function askAgain(turn: Turn): Next {
  turn.streak.empty += 1;
  if (turn.streak.empty > EMPTY_RETRIES)
    return ended(turn, 'failed', 'empty_reply', 'the model answered with nothing to read', turn.unfinished);
  remark(turn, 'Your last answer had no text and no tool call. Answer in words, or call a tool.');
  return null;
}

function correct(turn: Turn, rejected: string, problem: string): Next {
  turn.streak.mismatch += 1;
  if (turn.streak.mismatch > SCHEMA_REASKS) {
    const message = `the answer does not match the output schema: ${problem}`;
    return ended(turn, 'failed', 'schema_mismatch', message, rejected);
  }
  remark(
    turn,
    `Your answer does not match the required JSON Schema: ${problem}. Answer with matching JSON only.`,
  );
  return null;
}

/** A model that declines has answered if it says so. Calls of an answer that it broke off are not to be trusted. */
function refusal(turn: Turn, asked: Answered): TurnOutcome {
  const text = record(turn, asked, []);
  if (text !== '') return completed(turn, turn.unfinished + text);
  return ended(turn, 'failed', 'refused', 'the model declined to answer and gave no reason', turn.unfinished);
}

/** All calls of the round have run; with an output schema the output must match it like any answer. */
function finish(turn: Turn, text: string, args: JsonObject, check: AnswerCheck | undefined): Next {
  const outcome = finished(turn, text, args);
  if (check === undefined || outcome.status !== 'completed') return outcome;
  const output = outputText(args.output);
  const checked = check(output === '' ? text : output);
  return checked.ok ? { ...outcome, reply: checked.reply } : correct(turn, outcome.reply, checked.problem);
}

/** Puts an answer into the history and the journal; an empty one leaves no trace. Gives its text, '' when blank. */
function record(turn: Turn, asked: Answered, calls: ToolCall[]): string {
  const { answer, itemId, model } = asked;
  const whole = wellFormed(answer.text);
  const text = whole.trim() === '' ? '' : whole;
  if (text === '' && calls.length === 0) return text;
  const reasoning = answer.reasoning.map((data) => ({ model, data }));
  turn.history.push({ role: 'assistant', text, calls, ...(reasoning.length === 0 ? {} : { reasoning }) });
  turn.link.progress({
    event: 'assistant',
    item_id: itemId,
    round: turn.rounds,
    text,
    calls,
    stop: answer.stop,
    model: answer.model,
  });
  return text;
}
