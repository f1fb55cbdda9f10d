// read_file: lines or bytes of a text file of any size, or what kind of thing it is when it is no text.
import type { JsonObject } from '../../shared/json.js';
import { type ReadFileParams, readFileParams } from '../../shared/tools/file-read-tools.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import { checked } from './checked.js';
import type { ToolContext } from './executor.js';
import {
  type ByteSource,
  fileSource,
  memorySource,
  readKernelFile,
  type TextSource,
} from './files/byte-source.js';
import { onFile } from './files/errno.js';
import { mediaOf } from './files/media-type.js';
import { readBytes } from './files/read-bytes.js';
import { readLines } from './files/read-lines.js';
import { type OpenFile, openRegular } from './files/regular-file.js';
import { type Place, resolveExisting } from './files/resolve-path.js';
import { noteSeen, stampOf } from './files/seen-files.js';
import { detectText, type TextFormat, textOfUnits, unitsOf } from './files/text-codec.js';
import { ToolFailure } from './files/tool-failure.js';

/** The beginning by which a file is judged. */
const HEAD_BYTES = 256 * 1024;
/** Kept free of the limit for what stands around the content. */
const FRAME_BYTES = 700;

export const readFile = checked(readFileParams, async (params, context) => {
  checkParams(params);
  const place = await resolveExisting(context.workspaceRoot, params.path);
  const file = await openRegular(place);
  try {
    return await onFile(place.shown, () => readOpen(file, place, params, context));
  } finally {
    await file.handle.close();
  }
});

function checkParams(params: ReadFileParams): void {
  const { start_line, end_line, byte_offset, byte_length } = params;
  const byLines = start_line !== undefined || end_line !== undefined;
  if (byLines && (byte_offset !== undefined || byte_length !== undefined))
    throw new ToolFailure('Give lines or bytes, not both.');
  if (start_line === 0) throw new ToolFailure('Lines are counted from 1; start_line -1 is the last line.');
  if (start_line !== undefined && start_line < 0 && end_line !== undefined)
    throw new ToolFailure('end_line goes with a start_line of 1 or more; -N means the last N lines.');
  if (start_line !== undefined && end_line !== undefined && end_line < start_line)
    throw new ToolFailure('end_line is smaller than start_line.');
}

async function readOpen(
  file: OpenFile,
  place: Place,
  params: ReadFileParams,
  context: ToolContext,
): Promise<ToolResult> {
  const kernel = file.bytes === null ? await readKernelFile(file, context.limits.file_bytes) : null;
  const source = kernel === null ? fileSource(file.handle, file.stats.size) : memorySource(kernel);
  const head = await source.read(0, HEAD_BYTES);
  const format = detectText(head, head.length === source.bytes);
  const facts: JsonObject = { path: place.shown, ...(place.isLink ? { link_to: place.real } : {}) };
  if (format === null || head.toString('latin1', 0, 5) === '%PDF-')
    return { content: { ...facts, ...binaryFacts(head, source.bytes) }, is_error: false };
  const room = Math.max(64, context.limits.tool_output_bytes - FRAME_BYTES);
  const text = await textSource(source, format, room, context.limits.file_bytes);
  const byBytes = params.byte_offset !== undefined || params.byte_length !== undefined;
  const shown = byBytes
    ? await readBytes({ ...text, source }, params.byte_offset ?? 0, params.byte_length ?? null)
    : await readLines(text, params, context.signal);
  noteSeen(context.processMarker, place.real, stampOf(await file.handle.stat({ bigint: true })));
  const about: JsonObject = {
    bytes: source.bytes,
    encoding: format.encoding,
    ...(format.bomBytes > 0 ? { bom: true } : {}),
    line_ends: lineEnds(head, format),
  };
  return { content: { ...facts, ...shown, ...about }, is_error: false };
}

function binaryFacts(head: Buffer, bytes: number): JsonObject {
  const media = mediaOf(head);
  const size = media.width === undefined ? '' : `, ${media.width} x ${media.height} pixels`;
  return {
    binary: true,
    ...media,
    bytes,
    note: `Not a text file: ${media.mime}${size}, ${bytes} bytes. Its content is not shown.`,
  };
}

/** UTF-16 is read whole and turned into UTF-8, so that everything behind this looks at bytes only. */
async function textSource(
  source: ByteSource,
  format: TextFormat,
  room: number,
  most: number,
): Promise<TextSource> {
  const start = format.bomBytes;
  if (!format.encoding.startsWith('utf-16')) return { source, format, start, trueOffsets: true, room };
  if (source.bytes > most)
    throw new ToolFailure(
      `The file is UTF-16 and larger than ${most} bytes; read a part with byte_offset and byte_length.`,
    );
  const bytes = await source.read(start, source.bytes - start);
  const text = textOfUnits(unitsOf(bytes, format.encoding), format.encoding);
  return { source: memorySource(Buffer.from(text)), format, start: 0, trueOffsets: false, room };
}

/** Told by the beginning of the file. */
function lineEnds(head: Buffer, format: TextFormat): string {
  const units = unitsOf(head.subarray(format.bomBytes), format.encoding);
  const crlf = units.split('\r\n').length - 1;
  const lf = units.split('\n').length - 1 - crlf;
  if (crlf > 0) return lf > 0 ? 'mixed' : 'crlf';
  return lf > 0 ? 'lf' : 'none';
}
