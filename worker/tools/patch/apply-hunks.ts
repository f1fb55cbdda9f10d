// Applies hunks to lines. Context and removed lines must be there exactly, line ends aside; where they are may differ from
// what the patch says as long as only one place is meant. Pure: the result is lines, or what does not fit and why.
import { commonLineEnd } from '../edit/line-ends.js';
import { whyNotFound } from '../edit/near-match.js';
import type { FileLine } from './file-lines.js';
import type { Hunk } from './patch-model.js';

export interface Rejection {
  /** Counted from 1 within its file. */
  readonly hunk: number;
  readonly reason: string;
}

export interface Applied {
  readonly lines: readonly FileLine[];
  readonly rejections: readonly Rejection[];
  readonly added: number;
  readonly removed: number;
  /** Hunks that were found on other lines than the patch said. */
  readonly moved: number;
}

export interface TextOptions {
  /** Text of the patch as units of the file; null when the file cannot hold it. */
  readonly encode: (text: string) => string | null;
  readonly decode: (units: string) => string;
}

export function applyHunks(
  lines: readonly FileLine[],
  hunks: readonly Hunk[],
  options: TextOptions,
): Applied {
  const run = new HunkRun(lines, options);
  for (const [index, hunk] of hunks.entries()) run.apply(hunk, index + 1);
  return run.finish();
}

class HunkRun {
  readonly #lines: readonly FileLine[];
  readonly #options: TextOptions;
  readonly #output: FileLine[] = [];
  readonly #rejections: Rejection[] = [];
  readonly #end: string;
  /** First line that no hunk has passed yet. */
  #next = 0;
  /** The end of the last line, where a hunk says something about it. */
  #lastEnd: string | null = null;
  #added = 0;
  #removed = 0;
  #moved = 0;

  constructor(lines: readonly FileLine[], options: TextOptions) {
    this.#lines = lines;
    this.#options = options;
    this.#end = commonLineEnd(lines.map((line) => line.end).join('')) ?? '\n';
  }

  apply(hunk: Hunk, number: number): void {
    const encoded = hunk.lines.map(({ kind, text }) => ({
      kind,
      text: this.#options.encode(withoutCr(text)),
      cr: text.endsWith('\r'),
    }));
    const old: string[] = [];
    for (const line of encoded) if (line.kind !== '+') old.push(line.text ?? '');
    if (encoded.some((line) => line.text === null)) {
      this.#rejections.push({
        hunk: number,
        reason: 'The encoding of the file has no sign for some of its lines.',
      });
      return;
    }
    const place = this.#find(hunk, old);
    if (typeof place === 'string') {
      this.#rejections.push({ hunk: number, reason: place });
      return;
    }
    if (hunk.line !== null && place !== expectedIndex(hunk, old)) this.#moved += 1;
    this.#output.push(...this.#lines.slice(this.#next, place));
    let at = place;
    const isNew = this.#lines.length === 0;
    const end = this.#lines[place]?.end || this.#lines[place - 1]?.end || this.#end;
    for (const { kind, text, cr } of encoded) {
      const kept = this.#lines[at];
      if (kind !== '+') at += 1;
      if (kind === ' ' && kept !== undefined) this.#output.push(kept);
      // A new file takes its line ends from the patch, any other from itself.
      if (kind === '+') this.#output.push({ text: text ?? '', end: isNew && cr ? '\r\n' : end });
      if (kind === '+') this.#added += 1;
      if (kind === '-') this.#removed += 1;
    }
    this.#next = at;
    if (at < this.#lines.length) return;
    if (hunk.newEndsOpen) this.#lastEnd = '';
    else if (hunk.oldEndsOpen) this.#lastEnd = end;
  }

  finish(): Applied {
    const rest = this.#lines.slice(this.#next);
    const output = [...this.#output, ...rest];
    const openBefore = this.#lines.at(-1)?.end === '';
    const lastEnd = this.#lastEnd ?? (openBefore ? '' : null);
    const lines = output.map((line, index): FileLine => {
      if (index < output.length - 1) return line.end === '' ? { ...line, end: this.#end } : line;
      return lastEnd === null ? line : { ...line, end: lastEnd };
    });
    return {
      lines,
      rejections: this.#rejections,
      added: this.#added,
      removed: this.#removed,
      moved: this.#moved,
    };
  }

  /** Index of the first old line, or why there is none. */
  #find(hunk: Hunk, old: readonly string[]): number | string {
    const from = this.#behindAnchors(hunk.anchors);
    if (typeof from === 'string') return from;
    if (old.length === 0) return this.#placeOfInsertion(hunk, from);
    const found = this.#candidates(hunk, old, from);
    const expected = expectedIndex(hunk, old);
    const [first, second] = found;
    if (expected !== null && found.includes(expected)) return expected;
    if (first !== undefined && (second === undefined || hunk.anchors.length > 0)) return first;
    if (first !== undefined)
      return `Its lines stand on several places (lines ${found
        .slice(0, 8)
        .map((index) => index + 1)
        .join(', ')}); give more context or the right line number.`;
    const before = this.#candidates(hunk, old, 0);
    if (before.length > 0)
      return `Its lines stand on line ${(before[0] ?? 0) + 1}, before the part that an earlier hunk has changed; put the hunks in order of the file.`;
    const text = this.#options.decode(this.#lines.map((line) => line.text).join('\n'));
    return `Its lines are not in the file. ${whyNotFound(text, this.#options.decode(old.join('\n')))}`;
  }

  #behindAnchors(anchors: readonly string[]): number | string {
    let from = this.#next;
    for (const anchor of anchors) {
      const wanted = this.#options.encode(withoutCr(anchor)) ?? '';
      const exact = this.#lines.findIndex((line, index) => index >= from && line.text === wanted);
      const found =
        exact === -1
          ? this.#lines.findIndex((line, index) => index >= from && line.text.trim() === wanted.trim())
          : exact;
      if (found === -1)
        return `The line after @@ is not in the file, or not behind the hunk before: ${JSON.stringify(anchor.slice(0, 120))}.`;
      from = found + 1;
    }
    return from;
  }

  #placeOfInsertion(hunk: Hunk, from: number): number | string {
    if (hunk.line === null) return hunk.anchors.length > 0 && !hunk.atEnd ? from : this.#lines.length;
    if (hunk.line >= this.#next && hunk.line <= this.#lines.length) return hunk.line;
    return `It inserts after line ${hunk.line}, but the file has ${this.#lines.length} lines, or an earlier hunk reaches further.`;
  }

  #candidates(hunk: Hunk, old: readonly string[], from: number): number[] {
    const last = this.#lines.length - old.length;
    const found: number[] = [];
    // The line after @@ may be repeated as the first line of context.
    const start = hunk.anchors.length > 0 ? Math.max(this.#next, from - 1) : from;
    for (let index = hunk.atEnd ? Math.max(start, last) : start; index <= last; index += 1) {
      if (old.every((text, offset) => this.#lines[index + offset]?.text === text)) found.push(index);
    }
    return found;
  }
}

function expectedIndex(hunk: Hunk, old: readonly string[]): number | null {
  if (hunk.line === null) return null;
  return old.length === 0 ? hunk.line : hunk.line - 1;
}

function withoutCr(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
