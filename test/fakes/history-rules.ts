// What every provider asks of a conversation, stated over our own messages: whole pairs in order, unique ids, no
// emptiness, decodable text, and a person first. Dialects add rules of their own; these hold before any of them.
import type { JsonValue } from '../../shared/json.js';
import type { Message } from '../../shared/transcript/message.js';

const CALL_ID = /^[A-Za-z0-9_-]{1,64}$/;
const BAD_TEXT = /[\p{Surrogate}\0]/u;

/** Sentences about what would be refused; none when the history can be sent. */
export function brokenHistory(messages: readonly Message[]): string[] {
  const broken: string[] = [];
  const ids = new Set<string>();
  const owed: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const expected = owed.shift();
      if (expected !== message.call_id)
        broken.push(`message ${index}: result of ${message.call_id}, not of ${expected}`);
      if (typeof message.content === 'string' && message.content.trim() === '')
        broken.push(`message ${index}: empty result`);
    } else {
      if (owed.length > 0) broken.push(`message ${index}: ${owed.length} results are missing before it`);
      owed.length = 0;
      const blank = message.text.trim() === '';
      if (message.role === 'assistant' ? blank && message.calls.length === 0 : blank)
        broken.push(`message ${index}: empty ${message.role}`);
      if (message.role === 'assistant' && blank && message.text !== '')
        broken.push(`message ${index}: blank text beside calls`);
    }
    if (message.role === 'assistant') {
      for (const call of message.calls) {
        if (!CALL_ID.test(call.call_id) || ids.has(call.call_id))
          broken.push(`message ${index}: call id ${JSON.stringify(call.call_id)}`);
        if (typeof call.arguments !== 'object' || call.arguments === null || Array.isArray(call.arguments))
          broken.push(`message ${index}: arguments are no object`);
        ids.add(call.call_id);
        owed.push(call.call_id);
      }
    }
    if (hasBadText(message as unknown as JsonValue))
      broken.push(`message ${index}: text that cannot be decoded`);
  }
  if (owed.length > 0) broken.push(`${owed.length} results are missing at the end`);
  const first = messages.find((message) => message.role !== 'system' && message.role !== 'note');
  if (first !== undefined && first.role !== 'user') broken.push(`begins with ${first.role}`);
  return broken;
}

function hasBadText(value: JsonValue): boolean {
  if (typeof value === 'string') return BAD_TEXT.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => BAD_TEXT.test(key) || hasBadText(inner));
}
