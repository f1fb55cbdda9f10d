// Kept bytes of a command as text for a model: well-formed Unicode within the limit, a counted gap, binary described.
import type { KeptOutput } from './output-buffer.js';

export interface BoundedText {
  readonly text: string;
  readonly binary: boolean;
}

/** Above this share of bytes that are no text, showing them as text helps nobody. Latin-1 prose stays below it. */
const BINARY_SHARE = 0.1;
const HEX_BYTES = 64;

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Length without a character that was cut at the end. Broken bytes that no cut explains stay. */
function wholeEnd(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
  return start >= 0 && needed > bytes.length - start ? start : bytes.length;
}

/** Where the first whole character begins. */
function wholeStart(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return start;
}

function looksBinary(bytes: Buffer): boolean {
  if (bytes.includes(0)) return true;
  let odd = 0;
  for (const byte of bytes) {
    // Control characters other than those terminals and logs use: backspace to return, and escape.
    if ((byte < 32 && (byte < 8 || byte > 13) && byte !== 27) || byte === 127) odd += 1;
  }
  const text = bytes.toString('utf8');
  for (const character of text) if (character === '\ufffd') odd += 1;
  return odd > bytes.length * BINARY_SHARE;
}

/** The text of at most `limitBytes` in UTF-8, cut from its end or its beginning. */
export function clipText(text: string, limitBytes: number, keep: 'start' | 'end'): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limitBytes) return bytes.toString('utf8');
  if (keep === 'start') {
    const cut = bytes.subarray(0, limitBytes);
    return cut.subarray(0, wholeEnd(cut)).toString('utf8');
  }
  const cut = bytes.subarray(bytes.length - limitBytes);
  return cut.subarray(wholeStart(cut)).toString('utf8');
}

function describeBinary(kept: KeptOutput): string {
  const total = kept.head.length + kept.omittedBytes + kept.tail.length;
  const first = Buffer.concat([kept.head, kept.tail]).subarray(0, HEX_BYTES);
  return `[binary output, ${total} bytes; the first ${first.length} in hexadecimal: ${first.toString('hex')}]`;
}

/** The output as a model sees it: `limitBytes` of UTF-8 at most, apart from the line that stands for the gap. */
export function boundedText(kept: KeptOutput, limitBytes: number): BoundedText {
  if (kept.omittedBytes === 0) {
    // Decoded as one, so that a character across the seam stays whole. Replacement characters may make it longer.
    const whole = Buffer.concat([kept.head, kept.tail]);
    if (looksBinary(whole)) return { text: describeBinary(kept), binary: true };
    return { text: clipText(whole.toString('utf8'), limitBytes, 'start'), binary: false };
  }
  const head = kept.head.subarray(0, wholeEnd(kept.head));
  const tail = kept.tail.subarray(wholeStart(kept.tail));
  if (looksBinary(head) || looksBinary(tail)) return { text: describeBinary(kept), binary: true };
  const first = clipText(head.toString('utf8'), Math.floor(limitBytes / 2), 'start');
  const last = clipText(tail.toString('utf8'), Math.ceil(limitBytes / 2), 'end');
  const bytes = kept.omittedBytes + (kept.head.length - head.length) + (kept.tail.length - tail.length);
  return {
    text: `${first}\n[… ${bytes} bytes, ${kept.omittedLines} lines left out …]\n${last}`,
    binary: false,
  };
}
