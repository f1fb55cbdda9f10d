// A text file for searching: decoded pieces of whole lines, one after the other, however large the file is.
// Plain descriptors, and only the calls that may wait for a disk handed to the pool of threads: with small files it is the
// handing over that takes the time.
import { closeSync, constants, fstatSync, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { detectText, type Encoding, textOfUnits, unitsOf } from '../files/text-codec.js';

const openFile = promisify(open);
const readFile = promisify(read);

const PIECE_BYTES = 1024 * 1024;
/** UTF-16 has no line end that could be looked for byte by byte; larger files of it are not searched. */
const WIDE_BYTES_MAX = 16 * 1024 * 1024;
const HEAD_BYTES = 32 * 1024;
const LF = 10;

export type Pieces =
  | { readonly kind: 'text'; readonly whole: string }
  | { readonly kind: 'long'; readonly pieces: AsyncGenerator<string> }
  | { readonly kind: 'binary' | 'empty' | 'too_large' | 'unreadable' | 'not_regular' };

/** Small files are read and closed at once; of a long one the pieces must be read to the end or returned. */
export async function textPieces(path: string): Promise<Pieces> {
  let file: number;
  try {
    file = await openFile(
      path,
      constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY,
    );
  } catch {
    return { kind: 'unreadable' };
  }
  let keepOpen = false;
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return { kind: 'not_regular' };
    if (stats.size === 0) return { kind: 'empty' };
    const first = await readRange(file, 0, Math.min(stats.size, PIECE_BYTES));
    const whole = first.length === stats.size;
    const format = detectText(first.subarray(0, HEAD_BYTES), whole && first.length <= HEAD_BYTES);
    if (format === null) return { kind: 'binary' };
    const { encoding, bomBytes } = format;
    if (whole) return { kind: 'text', whole: decode(first.subarray(bomBytes), encoding) };
    if (encoding.startsWith('utf-16')) {
      if (stats.size > WIDE_BYTES_MAX) return { kind: 'too_large' };
      const all = await readRange(file, bomBytes, stats.size - bomBytes);
      return { kind: 'text', whole: decode(all, encoding) };
    }
    keepOpen = true;
    return { kind: 'long', pieces: pieces(file, bomBytes, encoding) };
  } catch {
    return { kind: 'unreadable' };
  } finally {
    if (!keepOpen) closeSync(file);
  }
}

async function readRange(file: number, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await readFile(file, buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function* pieces(file: number, start: number, encoding: Encoding): AsyncGenerator<string> {
  try {
    let carried = Buffer.alloc(0);
    for (let position = start; ; ) {
      const chunk = await readRange(file, position, PIECE_BYTES);
      position += chunk.length;
      const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
      if (chunk.length < PIECE_BYTES) {
        if (bytes.length > 0) yield decode(bytes, encoding);
        return;
      }
      const end = bytes.lastIndexOf(LF) + 1;
      // A line longer than a piece is split: its beginning is what matters, and memory stays flat.
      const cut = end > 0 ? end : bytes.length;
      yield decode(bytes.subarray(0, cut), encoding);
      carried = Buffer.from(bytes.subarray(cut));
    }
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Buffer, encoding: Encoding): string {
  return encoding === 'utf-8' ? bytes.toString('utf8') : textOfUnits(unitsOf(bytes, encoding), encoding);
}
