// Looks for lines that match in text that comes in pieces, with the lines around them. Stops at any point and goes on from
// there, so that the caller can share the thread and pass by a line that takes too long.
import type { JsonObject } from '../../../shared/json.js';
import { cutText, sendableText } from '../../../shared/transcript/unicode.js';

/** Longer lines are searched in their beginning only. */
const LINE_SEARCHED_MAX = 100_000;
const LINE_SHOWN = 400;
const BEFORE_MATCH = 120;
/** Lines between two looks at the clock. */
const STRIDE = 200;

export interface LineSearchOptions {
  readonly regex: RegExp;
  readonly context: number;
  /** False: only whether there is a match, and the first one ends the search of this file. */
  readonly gather: boolean;
  /** Matches that are kept at most; the others are counted. */
  readonly keep: number;
}

export class LineSearch {
  readonly path: string;
  /** Complete ones; take them away as you like. */
  readonly matches: JsonObject[] = [];
  matchCount = 0;
  /** Only the beginning of some line was searched. */
  longLines = 0;
  readonly #options: LineSearchOptions;
  #text = '';
  #at = 0;
  #line = 0;
  #before: string[] = [];
  #waiting: { after: string[]; left: number }[] = [];

  constructor(path: string, options: LineSearchOptions) {
    this.path = path;
    this.#options = options;
  }

  /** Nothing more is to be found here. */
  get settled(): boolean {
    return !this.#options.gather && this.matchCount > 0;
  }

  get idle(): boolean {
    return this.settled || this.#at >= this.#text.length;
  }

  /** Whole lines. Only when idle. */
  give(text: string): void {
    this.#text = text;
    this.#at = 0;
  }

  /** Passes by whole lines that are known not to match. Only when idle. */
  skip(text: string): void {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#line += 1;
    if (text !== '' && !text.endsWith('\n')) this.#line += 1;
  }

  /** Searches until the piece is done, or `mustStop` says so. */
  run(mustStop: () => boolean): void {
    for (let count = 1; !this.idle; count += 1) {
      if (count % STRIDE === 0 && mustStop()) return;
      this.#next();
    }
  }

  /** Where the search is; after it was broken off, the line that took too long. */
  get line(): number {
    return this.#line;
  }

  #next(): void {
    const found = this.#text.indexOf('\n', this.#at);
    const end = found === -1 ? this.#text.length : found;
    const whole = this.#text.slice(this.#at, this.#text[end - 1] === '\r' && end > this.#at ? end - 1 : end);
    // Moved on first: when the match is broken off, the next run begins behind this line.
    this.#at = end + 1;
    this.#line += 1;
    const line = whole.length > LINE_SEARCHED_MAX ? whole.slice(0, LINE_SEARCHED_MAX) : whole;
    if (line !== whole) this.longLines += 1;
    this.#giveContext(line);
    const match = this.#options.regex.exec(line);
    if (match !== null) this.#take(line, match.index);
    if (this.#options.context > 0) {
      this.#before.push(line);
      if (this.#before.length > this.#options.context) this.#before.shift();
    }
  }

  #giveContext(line: string): void {
    if (this.#waiting.length === 0) return;
    const shown = shownLine(line, 0);
    for (const one of this.#waiting) {
      one.after.push(shown);
      one.left -= 1;
    }
    this.#waiting = this.#waiting.filter((one) => one.left > 0);
  }

  #take(line: string, index: number): void {
    this.matchCount += 1;
    if (!this.#options.gather || this.matches.length >= this.#options.keep) return;
    const match: JsonObject = { path: this.path, line: this.#line, text: shownLine(line, index) };
    if (this.#options.context > 0) {
      const after: string[] = [];
      match['before'] = this.#before.map((each) => shownLine(each, 0));
      match['after'] = after;
      this.#waiting.push({ after, left: this.#options.context });
    }
    this.matches.push(match);
  }
}

/** The line, or the part around the match. */
function shownLine(line: string, index: number): string {
  if (line.length <= LINE_SHOWN) return sendableText(line);
  const start = index <= BEFORE_MATCH ? 0 : index - BEFORE_MATCH;
  const part = line.slice(start, start + LINE_SHOWN);
  const whole = part.replace(/^[\udc00-\udfff]/, '');
  const shown = cutText(sendableText(whole.replace(/[\ud800-\udbff]$/, '')), LINE_SHOWN * 4);
  return `${start > 0 ? '…' : ''}${shown}${start + LINE_SHOWN < line.length ? '…' : ''}`;
}
