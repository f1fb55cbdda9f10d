// How many tokens one answer may take: what is said, and the thinking before it. Pure.
import { ANSWER_ALLOWANCE } from '../transcript/estimate-tokens.js';
import type { ModelSettings } from './turn-snapshot.js';

type Caps = Pick<ModelSettings, 'max_output_tokens' | 'thinking_tokens'>;

/** What is sent as the cap of one answer; 0 sends none. `least` where a provider demands one. */
export function outputCap(
  { max_output_tokens: said, thinking_tokens: thought = 0 }: Caps,
  least = 0,
): number {
  const cap = said || least;
  return cap === 0 ? 0 : cap + thought;
}

/** What an answer is expected to take at most, capped or not. */
export function outputAllowance({ max_output_tokens: said, thinking_tokens: thought = 0 }: Caps): number {
  return (said || ANSWER_ALLOWANCE) + thought;
}
