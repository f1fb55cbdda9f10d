// Some lines of a source of any size, with memory for the lines that are kept only: the rest is counted and passed by.
// Works on bytes, in which a line end is 0x0a; UTF-16 is turned into UTF-8 before it comes here.
import type { ByteSource } from './byte-source.js';
import { cutForJson, jsonBytes } from './fit-json.js';

const LINE_CHARACTERS_MAX = 2000;

export interface WindowOptions {
  /** First byte of the first line that is looked at, and its number; 0 when it is not known. */
  readonly position: number;
  readonly line: number;
  readonly first: number;
  readonly last: number;
  /** Bytes as JSON that the lines may take. */
  readonly room: number;
  readonly latin1: boolean;
  readonly prefix: (line: number) => string;
}

export interface ShownLine {
  readonly text: string;
  /** Bytes of the line that are not shown, and where they begin. */
  readonly cutBytes: number;
  readonly cutAt: number;
}

/** Enough bytes for the longest line that is shown, whatever its characters. */
const LINE_BYTES_KEPT = LINE_CHARACTERS_MAX * 4;
const LF = 10;

export class LineWindow {
  readonly lines: ShownLine[] = [];
  /** A line that was asked for did not fit any more. */
  full = false;
  brokenCharacters = false;
  /** Number of the line that comes next, or of the last one when it has no line end. */
  line: number;
  readonly #options: WindowOptions;
  #used = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #lineBytes = 0;
  #lineStart: number;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.line = options.line;
    this.#lineStart = options.position;
  }

  get collecting(): boolean {
    return !this.full && this.line <= this.#options.last;
  }

  /** Bytes of a line that has not ended. */
  get openBytes(): number {
    return this.#lineBytes;
  }

  push(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(LF, from);
      const stop = end === -1 ? chunk.length : end;
      this.#keep(chunk.subarray(from, stop));
      if (end === -1) return;
      this.#endLine(1);
      from = end + 1;
    }
  }

  /** The source is over: a last line without a line end is a line too. */
  finish(): void {
    if (this.#lineBytes > 0) this.#endLine(0);
  }

  #keep(part: Buffer): void {
    this.#lineBytes += part.length;
    if (!this.collecting || this.line < this.#options.first || this.#keptBytes >= LINE_BYTES_KEPT) return;
    const kept = Buffer.from(part.subarray(0, LINE_BYTES_KEPT - this.#keptBytes));
    this.#kept.push(kept);
    this.#keptBytes += kept.length;
  }

  #endLine(endBytes: number): void {
    if (this.collecting && this.line >= this.#options.first) this.#show();
    this.#lineStart += this.#lineBytes + endBytes;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#lineBytes = 0;
    this.line += 1;
  }

  #show(): void {
    const shown = this.#shownLine(Buffer.concat(this.#kept));
    const left = this.#options.room - this.#used;
    const cost = jsonBytes(shown.text);
    if (cost > left && this.lines.length > 0) {
      this.full = true;
      return;
    }
    this.#used += cost;
    this.lines.push(shown);
  }

  #shownLine(bytes: Buffer): ShownLine {
    const { latin1, prefix, room } = this.#options;
    let text = bytes.toString(latin1 ? 'latin1' : 'utf8');
    if (text.includes('\ufffd') && !bytes.includes('\ufffd')) this.brokenCharacters = true;
    const whole = this.#lineBytes === bytes.length;
    if (whole && text.endsWith('\r')) text = text.slice(0, -1);
    const number = prefix(this.line);
    const fits = whole && text.length <= LINE_CHARACTERS_MAX && jsonBytes(text) <= room;
    if (fits) return { text: number + text, cutBytes: 0, cutAt: 0 };
    // The first line is shown however small the room is: at least its beginning.
    const head = cutForJson(text.slice(0, LINE_CHARACTERS_MAX), room);
    const shown = head.isWellFormed() ? head : head.slice(0, -1);
    const shownBytes = Buffer.byteLength(shown, latin1 ? 'latin1' : 'utf8');
    const cutBytes = this.#lineBytes - shownBytes;
    return { text: number + shown, cutBytes, cutAt: this.#lineStart + shownBytes };
  }
}

/** Where the last `count` lines begin, looking at `most` bytes at most; null when that is not enough. */
export async function lastLinesStart(
  source: ByteSource,
  count: number,
  start: number,
  most: number,
): Promise<number | null> {
  const step = 256 * 1024;
  let wanted = count;
  for (let end = source.bytes; end > start; end -= step) {
    if (source.bytes - end > most) return null;
    const from = Math.max(start, end - step);
    const chunk = await source.read(from, end - from);
    let at = chunk.length;
    // A line end at the very end closes the last line and begins none.
    if (end === source.bytes && chunk[at - 1] === LF) at -= 1;
    for (at = at === 0 ? -1 : chunk.lastIndexOf(LF, at - 1); at !== -1; ) {
      wanted -= 1;
      if (wanted === 0) return from + at + 1;
      at = at === 0 ? -1 : chunk.lastIndexOf(LF, at - 1);
    }
  }
  return start;
}
