// Keeps a turn's transcript within the window of its model: asks the supervisor to fold it before a request that would
// not fit, after one that was refused as too long, and when the model asked for it. Never without an end: each fold must
// gain something, and a turn gets a few. What does not fit after the last one ends the turn.
import type { TurnOutcome } from '../shared/ipc/to-supervisor.js';
import { estimateFixed, estimateMessages } from '../shared/transcript/estimate-tokens.js';
import type { Message } from '../shared/transcript/message.js';
import { ended } from './outcome.js';
import type { Turn } from './turn-state.js';

type Why = 'threshold' | 'overflow' | 'asked';

/** A fold that gains less is none. */
const SHRINK_TO = 0.9;
/** After one that gained nothing, the transcript must grow by this much before the next is asked for. */
const GROWTH = 1.1;

/** Input of a request by our estimate, uncalibrated. */
export function requestEstimate({ snapshot }: Turn, messages: readonly Message[]): number {
  const { context, system_prompt, tools } = snapshot;
  return (context?.fixed_tokens ?? estimateFixed(system_prompt, tools)) + estimateMessages(messages);
}

/** At the top of a round; how the turn ends where its transcript does not fit any more. */
export async function foldIfCrowded(turn: Turn): Promise<TurnOutcome | null> {
  const { context } = turn.snapshot;
  const { folds } = turn;
  if (context === undefined) return null;
  const tokens = turn.calibration * requestEstimate(turn, turn.history);
  if (folds.count < context.folds) {
    if (folds.asked) await fold(turn, 'asked');
    else if (tokens > Math.max(context.fold_tokens, folds.floorTokens)) await fold(turn, 'threshold');
    return null;
  }
  // An estimate ends nothing before all was tried; until then the provider decides what is too long.
  if (folds.count === 0 || tokens <= context.window_tokens) return null;
  const message = `the conversation does not fit into ${context.window_tokens} tokens, after ${folds.count} attempts to make room`;
  return ended(turn, 'failed', 'context_exhausted', message);
}

/** After a request that was too long. True: what is left is shorter, and worth another try. */
export async function foldAfterRefusal(turn: Turn): Promise<boolean> {
  const { context } = turn.snapshot;
  if (context === undefined || turn.folds.count >= context.folds) return false;
  return fold(turn, 'overflow');
}

async function fold(turn: Turn, why: Why): Promise<boolean> {
  const { folds, history } = turn;
  folds.asked = false;
  folds.count += 1;
  const before = estimateMessages(history);
  const messages = await turn.end.orEnd(turn.link.compact(why));
  const next = messages === null ? [] : withReasoning(messages, history);
  if (next.length === 0 || estimateMessages(next) > SHRINK_TO * before) {
    folds.floorTokens = Math.ceil(GROWTH * turn.calibration * requestEstimate(turn, history));
    return false;
  }
  history.length = 0;
  for (const message of next) history.push(message);
  turn.ownFrom = next.findLastIndex((message) => message.role === 'user') + 1;
  return true;
}

/** The journal keeps no reasoning; within the turn its model wants it back beside the calls that it led to. */
function withReasoning(messages: readonly Message[], before: readonly Message[]): Message[] {
  const parts = new Map<string, Extract<Message, { role: 'assistant' }>['reasoning']>();
  for (const message of before) {
    const first = message.role === 'assistant' ? message.calls[0] : undefined;
    if (first !== undefined && message.role === 'assistant' && message.reasoning !== undefined)
      parts.set(first.call_id, message.reasoning);
  }
  return messages.map((message) => {
    const first = message.role === 'assistant' ? message.calls[0] : undefined;
    const reasoning = first === undefined ? undefined : parts.get(first.call_id);
    return message.role !== 'assistant' || reasoning === undefined ? message : { ...message, reasoning };
  });
}
