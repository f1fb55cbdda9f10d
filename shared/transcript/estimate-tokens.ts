// How many tokens a text will roughly cost, without a tokenizer: those are slow to load and slow on hostile input.
// Good enough to admit a call or to charge one whose numbers never came; a provider's own numbers always win.
import type { PlannedTool } from '../tools/tool-plan.js';
import type { Message } from './message.js';

/** Text with more punctuation and digits than this share is data rather than prose, and costs more per character. */
const DENSE_SHARE = 0.12;
const DENSE_CHARS_PER_TOKEN = 2.8;
const PROSE_CHARS_PER_TOKEN = 4;
/** Role, separators and ids around each message. */
const PER_MESSAGE = 4;

/** What an answer may take when no cap is set. */
export const ANSWER_ALLOWANCE = 4_096;

/** Linear in the length of the text. */
export function estimateTokens(text: string): number {
  let wide = 0;
  let dense = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (isWide(unit)) wide += 1;
    else if (isDense(unit)) dense += 1;
  }
  const rest = text.length - wide;
  const perToken = dense > rest * DENSE_SHARE ? DENSE_CHARS_PER_TOKEN : PROSE_CHARS_PER_TOKEN;
  return wide + Math.ceil(rest / perToken);
}

/** Input tokens of a whole request. */
export function estimateRequest(
  systemPrompt: string,
  messages: readonly Message[],
  tools: readonly PlannedTool[],
): number {
  return estimateFixed(systemPrompt, tools) + estimateMessages(messages);
}

/** What every request of a turn holds before its first message. */
export function estimateFixed(systemPrompt: string, tools: readonly PlannedTool[]): number {
  let tokens = estimateTokens(systemPrompt);
  for (const tool of tools)
    tokens +=
      PER_MESSAGE + estimateTokens(tool.description) + estimateTokens(JSON.stringify(tool.input_schema));
  return tokens;
}

/** Messages do not change once they are made, so each is counted once. */
const counted = new WeakMap<Message, number>();

export function estimateMessages(messages: readonly Message[]): number {
  return messages.reduce((tokens, message) => tokens + estimateMessage(message), 0);
}

export function estimateMessage(message: Message): number {
  const known = counted.get(message);
  if (known !== undefined) return known;
  const tokens = PER_MESSAGE + estimateTokens(textOf(message));
  counted.set(message, tokens);
  return tokens;
}

function textOf(message: Message): string {
  if (message.role === 'tool')
    return typeof message.content === 'string' ? message.content : JSON.stringify(message.content);
  if (message.role !== 'assistant') return message.text;
  return message.calls.reduce(
    (text, call) => `${text}${call.name}${JSON.stringify(call.arguments)}`,
    message.text,
  );
}

/** Kana, Han, Hangul and full-width forms: about a token each. */
function isWide(unit: number): boolean {
  return (
    (unit >= 0x2e80 && unit <= 0x9fff) ||
    (unit >= 0xac00 && unit <= 0xd7af) ||
    (unit >= 0xf900 && unit <= 0xfaff) ||
    (unit >= 0xff00 && unit <= 0xffef)
  );
}

/** ASCII punctuation and digits. */
function isDense(unit: number): boolean {
  return (unit >= 0x21 && unit <= 0x40) || (unit >= 0x5b && unit <= 0x60) || (unit >= 0x7b && unit <= 0x7e);
}
