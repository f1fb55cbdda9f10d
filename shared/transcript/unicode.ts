// Text that every provider can decode: no half characters, no NULs, and cuts that fall between characters.
// Half a surrogate pair makes a request body invalid, and once it is stored each later request fails the same way.
import type { JsonValue } from '../json.js';

declare global {
  // The runtime has these two; the library level that the project compiles against does not declare them.
  interface String {
    isWellFormed(): boolean;
    toWellFormed(): string;
  }
}

/** Deeper JSON than this is not walked but replaced: no stored value may exhaust the stack. */
const DEPTH_MAX = 200;

/** Marks (variation selectors among them), joiners and skin tones belong to the character before them. */
const EXTENDS = /^(?:\p{M}|\u200d|[\u{1f3fb}-\u{1f3ff}])/u;
/** How far a cut moves back to keep such a character whole; longer clusters are cut all the same. */
const CLUSTER_MAX = 16;

/** The same text with each lone surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** Well-formed text without NULs, which several endpoints refuse though JSON can carry them. */
export function sendableText(text: string): string {
  const whole = wellFormed(text);
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole;
}

/** Applies `fix` to every string and key inside; returns the same object when nothing changed. */
export function mapJsonText(value: JsonValue, fix: (text: string) => string, depth = 0): JsonValue {
  if (typeof value === 'string') return fix(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '[nested too deep]';
  let changed = false;
  const walk = (inner: JsonValue): JsonValue => {
    const fixed = mapJsonText(inner, fix, depth + 1);
    changed ||= fixed !== inner;
    return fixed;
  };
  if (Array.isArray(value)) {
    const items = value.map(walk);
    return changed ? items : value;
  }
  const entries = Object.entries(value).map(([key, inner]): [string, JsonValue] => {
    const fixedKey = fix(key);
    changed ||= fixedKey !== key;
    return [fixedKey, walk(inner)];
  });
  return changed ? Object.fromEntries(entries) : value;
}

/** The longest beginning of `text` that takes at most `maxBytes` in UTF-8 and ends between two characters. */
export function cutText(text: string, maxBytes: number): string {
  if (fits(text, maxBytes)) return text;
  return text.slice(0, headEnd(text, maxBytes));
}

/** Cheap first: a UTF-16 unit takes one to three bytes. */
function fits(text: string, maxBytes: number): boolean {
  if (text.length * 3 <= maxBytes) return true;
  return text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes;
}

function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

function headEnd(text: string, maxBytes: number): number {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const point = text.codePointAt(end) ?? 0;
    bytes += bytesOf(point);
    if (bytes > maxBytes) break;
    end += point > 0xffff ? 2 : 1;
  }
  return joinedBack(text, end);
}

/** Moves a cut back to where a character begins. */
function joinedBack(text: string, end: number): number {
  let cut = end;
  for (let moved = 0; moved < CLUSTER_MAX && cut > 0 && joinsBefore(text, cut); moved += 1)
    cut -= isPairEnd(text, cut) ? 2 : 1;
  return joinsBefore(text, cut) ? end : cut;
}

/** True when what stands at `index` belongs to what stands before it. */
function joinsBefore(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return false;
  return text[index - 1] === '\u200d' || EXTENDS.test(text.slice(index, index + 2));
}

function isPairEnd(text: string, end: number): boolean {
  const unit = text.charCodeAt(end - 1);
  const before = text.charCodeAt(end - 2);
  return unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
}
