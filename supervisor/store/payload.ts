// JSON in columns. The one place where values become stored text and come back, so text is healed here both ways:
// half a surrogate pair, once stored, would make every later request of its thread invalid.
import type { JsonValue } from '../../shared/json.js';
import { mapJsonText, wellFormed } from '../../shared/transcript/unicode.js';

/** JSON text spells a lone surrogate as an escape; complete pairs it writes out. May also match harmless text. */
const LONE_SURROGATE = /\\u[dD][89a-fA-F]/;

export function encodeJson(value: object | JsonValue): string {
  const text = stringify(value);
  return LONE_SURROGATE.test(text) ? JSON.stringify(mapJsonText(value as JsonValue, wellFormed)) : text;
}

/** Throws a SyntaxError when the text is not JSON, which only damage can cause. */
export function decodeJson<T>(text: string): T {
  const value = JSON.parse(text);
  return LONE_SURROGATE.test(text) ? (mapJsonText(value, wellFormed) as T) : value;
}

function stringify(value: object | JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Nested beyond the stack: the walk replaces what is too deep.
    return JSON.stringify(mapJsonText(value as JsonValue, wellFormed));
  }
}
