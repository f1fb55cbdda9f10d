// A text file as units (see text-codec), whole in memory, with what is needed to write it back exactly.
import { onFile } from '../files/errno.js';
import { openRegular, readRange } from '../files/regular-file.js';
import type { Place } from '../files/resolve-path.js';
import { bytesOfUnits, detectText, type TextFormat, unitsOf } from '../files/text-codec.js';
import { ToolFailure } from '../files/tool-failure.js';

export interface TextFile {
  /** All bytes, the mark included. */
  readonly bytes: Buffer;
  readonly format: TextFormat;
  /** Without the mark. */
  readonly units: string;
}

export const NEW_TEXT: TextFile = {
  bytes: Buffer.alloc(0),
  format: { encoding: 'utf-8', bomBytes: 0 },
  units: '',
};

/** Throws for what is no regular text file of at most `most` bytes. */
export async function loadText(place: Pick<Place, 'real' | 'shown'>, most: number): Promise<TextFile> {
  const { shown } = place;
  const file = await openRegular(place);
  try {
    if (file.bytes === null)
      throw new ToolFailure(`${shown} is made by the kernel while it is read; it cannot be edited.`);
    if (file.bytes > most)
      throw new ToolFailure(
        `${shown} has ${file.bytes} bytes; at most ${most} can be edited. Use exec_command.`,
      );
    const size = file.bytes;
    const bytes = await onFile(shown, () => readRange(file.handle, 0, size));
    return textOf(bytes, shown);
  } finally {
    await file.handle.close();
  }
}

export function textOf(bytes: Buffer, shown: string): TextFile {
  const format = detectText(bytes, true);
  if (format === null)
    throw new ToolFailure(`${shown} is binary, not text; it cannot be edited with this tool.`);
  const text = bytes.subarray(format.bomBytes);
  if (format.encoding.startsWith('utf-16') && text.length % 2 === 1)
    throw new ToolFailure(
      `${shown} is UTF-16 with half a character at its end; it cannot be edited with this tool.`,
    );
  return { bytes, format, units: unitsOf(text, format.encoding) };
}

/** The bytes of a file that holds `units` instead. */
export function bytesWith(file: TextFile, units: string): Buffer {
  const { encoding, bomBytes } = file.format;
  return Buffer.concat([file.bytes.subarray(0, bomBytes), bytesOfUnits(units, encoding)]);
}
