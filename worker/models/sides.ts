// A conversation as two sides that take turns, for dialects that demand it: neighbours of one side are merged, results
// stand first in the message right after their calls, a person begins and ends. What a block is, the dialect says.
import type { JsonObject } from '../../shared/json.js';
import type { Message } from '../../shared/transcript/message.js';

export interface Side {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

export interface Blocks {
  /** The blocks of one message; none where it says nothing or stands elsewhere. */
  of(message: Message): JsonObject[];
  /** A remark of ours that keeps the sides in order. */
  note(text: string): JsonObject[];
  isResult(block: JsonObject): boolean;
}

export function takingTurns(messages: readonly Message[], blocks: Blocks): Side[] {
  const sides: Side[] = [];
  for (const message of messages) {
    const content = blocks.of(message);
    if (content.length === 0) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = sides.at(-1);
    if (last?.role === role) last.content.push(...content);
    else sides.push({ role, content });
  }
  if (sides[0]?.role !== 'user')
    sides.unshift({ role: 'user', content: blocks.note('[note] The conversation begins here.') });
  // An assistant message at the end would be read as the beginning of the answer, and newer models refuse that.
  if (sides.at(-1)?.role === 'assistant') sides.push({ role: 'user', content: blocks.note('[note] Go on.') });
  return sides.map((side) => (side.role === 'user' ? resultsFirst(side, blocks) : side));
}

function resultsFirst({ role, content }: Side, blocks: Blocks): Side {
  const results = content.filter((block) => blocks.isResult(block));
  return { role, content: [...results, ...content.filter((block) => !blocks.isResult(block))] };
}
