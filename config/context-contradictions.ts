// A window that its own answers and instructions fill leaves nothing to talk in. Where the window is configured, that is
// known before anything starts.
import { estimateTokens } from '../shared/transcript/estimate-tokens.js';
import type { Config } from './schema.js';

/** Less than this cannot hold a question and the beginning of an answer. */
const ROOM_LEAST = 1_000;

/** Pairs of a dotted path and what is wrong there. */
export function contextContradictions({ agent, context, intelligence }: Config): [string, string][] {
  const { model_window: window } = context;
  if (window === null) return [];
  const { max_output_tokens: reserve } = intelligence;
  if (reserve > window - ROOM_LEAST)
    return [
      [
        'intelligence.max_output_tokens',
        `an answer of ${reserve} tokens leaves no room in a window of ${window}: lower it, or raise context.model_window`,
      ],
    ];
  const fixed = estimateTokens(agent.instruction);
  if (reserve + fixed > window - ROOM_LEAST)
    return [
      [
        'agent.instruction',
        `takes about ${fixed} tokens of a window of ${window} and leaves no room: shorten it, or raise context.model_window`,
      ],
    ];
  return [];
}
