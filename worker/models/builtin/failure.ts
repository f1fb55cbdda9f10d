// Reads why a tool call failed out of whatever its result holds.
import type { JsonValue } from '../../../shared/json.js';

/** Longer reasons are cut: they are for a sentence. */
const LONGEST = 500;

export function failureOf(content: JsonValue): string {
  const text = reasonIn(content).trim().replace(/\s+/g, ' ').replace(/\.$/, '');
  if (text === '') return 'it failed without a reason';
  return text.length > LONGEST ? `${[...text].slice(0, LONGEST).join('')}…` : text;
}

function reasonIn(content: JsonValue): string {
  if (typeof content === 'string') return content;
  if (typeof content !== 'object' || content === null) return '';
  if (Array.isArray(content)) return content.map(reasonIn).find((text) => text !== '') ?? '';
  for (const key of ['error', 'message', 'reason', 'text']) {
    const text = content[key] === undefined ? '' : reasonIn(content[key]);
    if (text !== '') return text;
  }
  return '';
}
