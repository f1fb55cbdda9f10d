// A range of bytes of a text, for lines that are too long to be read as lines. Cut between characters at both ends.
import type { JsonObject } from '../../../shared/json.js';
import type { TextSource } from './byte-source.js';
import { cutForJson } from './fit-json.js';
import { bytesOfUnits, type Encoding, textOfUnits, unitsOf } from './text-codec.js';

const LENGTH_DEFAULT = 32 * 1024;

/** `text.source` must be the file itself. */
export async function readBytes(
  text: TextSource,
  offset: number,
  length: number | null,
): Promise<JsonObject> {
  const { source, format, room } = text;
  if (offset >= source.bytes && source.bytes > 0)
    return {
      content: '',
      byte_offset: offset,
      next_byte_offset: null,
      truncated: false,
      note: `The file ends at byte ${source.bytes}.`,
    };
  const begin = Math.max(offset, format.bomBytes);
  const bytes = await source.read(begin, Math.min(length ?? LENGTH_DEFAULT, room));
  const [from, to] = wholeCharacters(bytes, begin, format.encoding, begin + bytes.length >= source.bytes);
  const units = unitsOf(bytes.subarray(from, to), format.encoding);
  const content = cutForJson(textOfUnits(units, format.encoding), room);
  const next = begin + from + shownBytes(content, units, format.encoding);
  const more = next < source.bytes && next > begin;
  return {
    content,
    byte_offset: begin + from,
    next_byte_offset: more ? next : null,
    truncated: more,
  };
}

/** Bytes of the units that `content` shows. Broken characters count as what they are in the file. */
function shownBytes(content: string, units: string, encoding: Encoding): number {
  const whole = textOfUnits(units, encoding);
  if (content.length === whole.length || encoding !== 'utf-8')
    return bytesOfUnits(
      units.slice(0, content.length === whole.length ? units.length : content.length),
      encoding,
    ).length;
  let bytes = Buffer.byteLength(content);
  // With broken characters before the cut the true length is smaller; look for the prefix that decodes to the content.
  while (bytes > 0 && textOfUnits(units.slice(0, bytes), encoding).length > content.length) bytes -= 1;
  return bytes;
}

/** Begin and end of the whole characters within a range that was cut anywhere. */
function wholeCharacters(
  bytes: Buffer,
  position: number,
  encoding: Encoding,
  atEnd: boolean,
): [from: number, to: number] {
  if (encoding === 'latin1') return [0, bytes.length];
  if (encoding !== 'utf-8') return wholePairs(bytes, position, encoding, atEnd);
  let from = 0;
  while (from < 3 && isContinuation(bytes[from])) from += 1;
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead -= 1;
  const first = bytes[lead] ?? 0;
  const needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  const cut = !atEnd && needed > bytes.length - lead && lead > from;
  return [from, cut ? lead : bytes.length];
}

/** The same for UTF-16, where half a character is half a surrogate pair. */
function wholePairs(
  bytes: Buffer,
  position: number,
  encoding: Encoding,
  atEnd: boolean,
): [from: number, to: number] {
  let from = position % 2;
  let to = bytes.length - ((bytes.length - from) % 2);
  const units = unitsOf(bytes.subarray(from, to), encoding);
  if (/^[\udc00-\udfff]/.test(units) && to - from > 2) from += 2;
  if (!atEnd && /[\ud800-\udbff]$/.test(units) && to - from > 2) to -= 2;
  return [from, to];
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
