// Which encoding a text file has, and its text as units: a string in which each line end is \n or \r\n as in the file, and
// which turns back into exactly the bytes it came from. For UTF-8 and latin1 a unit is a byte, for UTF-16 a code unit; so
// even a file with broken characters can be edited without touching them.

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1';

export interface TextFormat {
  readonly encoding: Encoding;
  /** Bytes of the byte order mark; 0 when there is none. */
  readonly bomBytes: number;
}

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Above this share of control characters bytes are no text. */
const CONTROL_SHARE = 0.05;

/** The format of a text, judged by its beginning; null for bytes that are no text. `whole`: nothing follows. */
export function detectText(head: Buffer, whole: boolean): TextFormat | null {
  if (head.subarray(0, 3).equals(UTF8_BOM)) return noNuls({ encoding: 'utf-8', bomBytes: 3 }, head);
  const marked16 = head.length >= 2 ? head.readUInt16BE(0) : 0;
  if (marked16 === 0xfffe || marked16 === 0xfeff) {
    const encoding = marked16 === 0xfffe ? 'utf-16le' : 'utf-16be';
    // UTF-32 begins with the same two bytes, and then has zeros where UTF-16 text has none.
    return head.length >= 4 && head.readUInt16BE(2) === 0 ? null : { encoding, bomBytes: 2 };
  }
  if (head.includes(0) || tooManyControls(head)) return null;
  return { encoding: isUtf8(head, whole) || isNearlyUtf8(head) ? 'utf-8' : 'latin1', bomBytes: 0 };
}

function noNuls(format: TextFormat, head: Buffer): TextFormat | null {
  return head.includes(0) ? null : format;
}

function tooManyControls(bytes: Buffer): boolean {
  let odd = 0;
  for (const byte of bytes) {
    // All but backspace to return, and escape, which logs and terminals use.
    if ((byte < 32 && (byte < 8 || byte > 13) && byte !== 27) || byte === 127) odd += 1;
  }
  return odd > bytes.length * CONTROL_SHARE;
}

/** Whether these bytes are UTF-8; unless they are `whole`, the last character may be cut. */
function isUtf8(bytes: Buffer, whole: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !whole });
    return true;
  } catch {
    return false;
  }
}

/** UTF-8 with some broken bytes in it, as logs have: most of what is no ASCII makes sense. In latin1 text none of it does. */
function isNearlyUtf8(bytes: Buffer): boolean {
  const beyond = bytes.toString('utf8').match(/[^\u0000-\u007f]/gu) ?? [];
  const broken = beyond.filter((character) => character === '\ufffd').length;
  return beyond.length - broken > broken;
}

/** Units of `bytes`, which begin after the mark. An odd last byte of UTF-16 is not part of them. */
export function unitsOf(bytes: Buffer, encoding: Encoding): string {
  if (encoding === 'utf-16le') return bytes.toString('utf16le');
  if (encoding === 'utf-16be') return swapped(bytes).toString('utf16le');
  return bytes.toString('latin1');
}

export function bytesOfUnits(units: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-16le') return Buffer.from(units, 'utf16le');
  if (encoding === 'utf-16be') return swapped(Buffer.from(units, 'utf16le'));
  return Buffer.from(units, 'latin1');
}

/** Text as units of a file; null when the encoding has no such character. */
export function unitsOfText(text: string, encoding: Encoding): string | null {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8').toString('latin1');
  if (encoding === 'latin1') return /^[\u0000-\u00ff]*$/.test(text) ? text : null;
  return text;
}

/** Units as text to show. Broken characters become U+FFFD. */
export function textOfUnits(units: string, encoding: Encoding): string {
  if (encoding === 'utf-8') return Buffer.from(units, 'latin1').toString('utf8');
  return encoding === 'latin1' ? units : units.toWellFormed();
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).swap16();
}
