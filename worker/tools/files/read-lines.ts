// The lines of a text that were asked for, as the content of a result that says what it left out and how to read on.
import type { JsonObject } from '../../../shared/json.js';
import type { ReadFileParams } from '../../../shared/tools/file-read-tools.js';
import type { TextSource } from './byte-source.js';
import { LineWindow, lastLinesStart } from './line-window.js';
import { mustGoOn, ToolFailure } from './tool-failure.js';

const CHUNK_BYTES = 256 * 1024;
/** What is passed by on the way to a line, at most: about a second or two of reading. */
const SCAN_BYTES_MAX = 1024 ** 3;
/** Up to here the lines of the whole file are counted. */
const COUNT_BYTES_MAX = 64 * 1024 ** 2;

type Wanted = Pick<ReadFileParams, 'start_line' | 'end_line' | 'line_numbers'>;

interface Start {
  readonly position: number;
  /** 0: not known, the file is too large to count. */
  readonly line: number;
}

export async function readLines(text: TextSource, wanted: Wanted, signal: AbortSignal): Promise<JsonObject> {
  const fromEnd = wanted.start_line !== undefined && wanted.start_line < 0;
  const start = fromEnd
    ? await startFromEnd(text, -(wanted.start_line ?? 0), signal)
    : { position: text.start, line: 1 };
  const numbered = wanted.line_numbers && start.line > 0;
  const first = fromEnd ? start.line : (wanted.start_line ?? 1);
  const window = new LineWindow({
    ...start,
    first,
    last: wanted.end_line ?? Number.POSITIVE_INFINITY,
    room: text.room,
    latin1: text.format.encoding === 'latin1',
    prefix: numbered ? (line) => `${String(line).padStart(6)}\t` : () => '',
  });
  const total = await fill(window, text, start, signal);
  return contentOf(window, text, { first, total, lineKnown: start.line > 0 });
}

/** Feeds the window until it has what it wants; then counts on where that is cheap. Lines in all, or null. */
async function fill(
  window: LineWindow,
  text: TextSource,
  start: Start,
  signal: AbortSignal,
): Promise<number | null> {
  const { source } = text;
  let position = start.position;
  while (position < source.bytes) {
    mustGoOn(signal);
    if (!window.collecting && source.bytes > COUNT_BYTES_MAX) return null;
    if (window.lines.length === 0 && position - start.position > SCAN_BYTES_MAX)
      throw new ToolFailure(
        `That line lies behind the first ${SCAN_BYTES_MAX} bytes. Read with byte_offset, or from the end with a negative start_line.`,
      );
    // A line without an end is not waited for: its beginning is all that is shown.
    if (window.collecting && window.openBytes > SCAN_BYTES_MAX) break;
    const chunk = await source.read(position, CHUNK_BYTES);
    if (chunk.length === 0) break;
    window.push(chunk);
    position += chunk.length;
  }
  window.finish();
  return position >= source.bytes && start.line > 0 ? window.line - 1 : null;
}

async function startFromEnd(text: TextSource, count: number, signal: AbortSignal): Promise<Start> {
  const { source } = text;
  const position = await lastLinesStart(source, count, text.start, SCAN_BYTES_MAX);
  if (position === null)
    throw new ToolFailure(`The last ${count} lines are longer than ${SCAN_BYTES_MAX} bytes; ask for fewer.`);
  if (source.bytes > COUNT_BYTES_MAX) return { position, line: 0 };
  let line = 1;
  for (let at = text.start; at < position; at += CHUNK_BYTES) {
    mustGoOn(signal);
    const chunk = await source.read(at, Math.min(CHUNK_BYTES, position - at));
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, end + 1)) line += 1;
  }
  return { position, line };
}

interface Extent {
  readonly first: number;
  readonly total: number | null;
  readonly lineKnown: boolean;
}

function contentOf(window: LineWindow, text: TextSource, extent: Extent): JsonObject {
  const { lines } = window;
  const { first, total, lineKnown } = extent;
  const last = first + lines.length - 1;
  const notes: string[] = [];
  if (window.full) {
    notes.push(
      lineKnown
        ? `Not everything fits: read on with start_line ${last + 1}.`
        : 'Not everything fits: ask for fewer lines, or read with byte_offset.',
    );
  }
  if (lines.length === 0 && total !== 0)
    notes.push(`There is no line ${first}: the file has ${total ?? 'fewer'} lines.`);
  if (window.brokenCharacters) notes.push('Bytes that are no UTF-8 are shown as \ufffd.');
  const content = lines.map((line) => {
    if (line.cutBytes === 0) return line.text;
    const how = text.trueOffsets ? `: byte_offset ${line.cutAt} reads on` : '';
    return `${line.text} [… ${line.cutBytes} more bytes in this line${how}]`;
  });
  const cut = window.full || lines.some((line) => line.cutBytes > 0);
  return {
    content: content.join('\n'),
    ...(lines.length === 0
      ? {}
      : { start_line: lineKnown ? first : null, end_line: lineKnown ? last : null }),
    total_lines: total,
    truncated: cut,
    ...(notes.length > 0 ? { note: notes.join(' ') } : {}),
  };
}
