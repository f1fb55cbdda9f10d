// How much of a result fits: counted in the bytes that it takes as JSON in UTF-8, which is what a model gets.

import type { JsonValue } from '../../../shared/json.js';
import { cutText } from '../../../shared/transcript/unicode.js';

export function jsonBytes(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The longest beginning whose JSON form is at most about `maxBytes`, cut between characters. */
export function cutForJson(text: string, maxBytes: number): string {
  let cut = cutText(text, maxBytes);
  // Quotes, line ends and control characters take more as JSON; each step shrinks by the share it is over.
  for (let bytes = jsonBytes(cut); bytes > maxBytes + 2 && cut !== ''; bytes = jsonBytes(cut))
    cut = cutText(cut, Math.floor((Buffer.byteLength(cut) * maxBytes) / bytes) - 1);
  return cut;
}

/** Takes items while they fit; how many did. */
export function howManyFit(items: readonly JsonValue[], maxBytes: number): number {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += jsonBytes(item) + 1;
    if (bytes > maxBytes) return index;
  }
  return items.length;
}
