// Searches many files one after the other without keeping the thread: in slices, each of them with a limit that holds
// even against a pattern that backtracks without end.
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Clock } from '../../../shared/clock.js';
import type { JsonObject } from '../../../shared/json.js';
import { jsonBytes } from '../files/fit-json.js';
import { type GuardedRun, makeGuardedRun } from './guarded-run.js';
import { LineSearch } from './line-search.js';
import { type Pieces, textPieces } from './text-pieces.js';

export interface FileSearchOptions {
  readonly regex: RegExp;
  /** What every match contains, where that is known: files without it are passed by quickly. */
  readonly literal: string | null;
  readonly context: number;
  readonly filesOnly: boolean;
  /** Matches, or files, that are kept at most. */
  readonly limit: number;
  /** Bytes as JSON that they may take. */
  readonly room: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeMs: number;
}

export type SearchCut = 'limit' | 'output' | 'time' | 'pattern' | 'interrupted';

/** A slice of work gives the thread back after this. */
const SLICE_MS = 25;
/** A slice that does not is broken off: one line takes all that time. */
const BROKEN_OFF_MS = 120;
const SLOW_LINES_MAX = 3;

interface Loaded {
  readonly search: LineSearch;
  readonly pieces: Pieces;
}

export class FileSearch {
  readonly shown: JsonObject[] = [];
  matchCount = 0;
  fileCount = 0;
  searched = 0;
  longLines = 0;
  cut: SearchCut | null = null;
  /** The first line at which the pattern had to be broken off. */
  slowAt: string | null = null;
  readonly skipped = { binary: 0, too_large: 0, unreadable: 0 };
  readonly #options: FileSearchOptions;
  readonly #run: GuardedRun = makeGuardedRun();
  readonly #endsAt: number;
  #slowLines = 0;
  #used = 0;

  constructor(options: FileSearchOptions) {
    this.#options = options;
    this.#endsAt = options.clock.monotonic() + options.timeMs;
  }

  /** Searches some files, given as path on disk and path to show; reads them side by side. False: enough. */
  async files(batch: readonly (readonly [path: string, shown: string])[]): Promise<boolean> {
    const { regex, context, filesOnly, limit } = this.#options;
    const loaded = await Promise.all(
      batch.map(async ([path, shown]): Promise<Loaded> => {
        const search = new LineSearch(shown, { regex, context, gather: !filesOnly, keep: limit + 1 });
        return { search, pieces: await textPieces(path) };
      }),
    );
    // Small files share a slice: entering one costs more than to search most files.
    const texts = loaded.flatMap(({ search, pieces }) =>
      pieces.kind === 'text' ? [{ search, text: pieces.whole }] : [],
    );
    await this.#texts(texts);
    for (const one of loaded) {
      if (this.cut === null) await this.#finish(one);
      else if (one.pieces.kind === 'long') await one.pieces.pieces.return(null);
      else if (one.pieces.kind === 'text') this.#found(one.search);
    }
    return this.cut === null;
  }

  async #finish({ search, pieces }: Loaded): Promise<void> {
    if (pieces.kind === 'long') {
      for await (const piece of pieces.pieces) {
        await this.#texts([{ search, text: piece }]);
        if (this.cut !== null || search.settled) break;
      }
    } else if (pieces.kind === 'empty' || pieces.kind === 'not_regular') {
      this.searched += 1;
      return;
    } else if (pieces.kind !== 'text') {
      this.skipped[pieces.kind] += 1;
      return;
    }
    this.searched += 1;
    this.longLines += search.longLines;
    this.#found(search);
  }

  /** Searches pieces of text, in slices. */
  async #texts(given: readonly { readonly search: LineSearch; readonly text: string }[]): Promise<void> {
    const { literal, clock, signal, context } = this.#options;
    const open: LineSearch[] = [];
    for (const { search, text } of given) {
      if (literal !== null && context === 0 && !text.includes(literal)) search.skip(text);
      else {
        search.give(text);
        open.push(search);
      }
    }
    for (let at = 0; at < open.length && this.cut === null; ) {
      const sliceEnds = clock.monotonic() + SLICE_MS;
      const mustStop = (): boolean => clock.monotonic() > sliceEnds;
      const ended = this.#run(() => {
        while (at < open.length) {
          open[at]?.run(mustStop);
          if (open[at]?.idle === false) return;
          at += 1;
        }
      }, BROKEN_OFF_MS);
      const slow = open[at];
      if (!ended && slow !== undefined) this.#slow(slow);
      if (signal.aborted) this.cut = 'interrupted';
      else if (clock.monotonic() > this.#endsAt) this.cut ??= 'time';
      else if ((slow?.matchCount ?? 0) + this.matchCount > this.#options.limit * 10 + 10_000)
        this.cut = 'limit';
      if (at < open.length) await nextTick();
    }
  }

  #slow(search: LineSearch): void {
    this.#slowLines += 1;
    this.slowAt ??= `${search.path}:${search.line}`;
    if (this.#slowLines >= SLOW_LINES_MAX) this.cut = 'pattern';
  }

  #found(search: LineSearch): void {
    if (search.matchCount === 0) return;
    this.fileCount += 1;
    this.matchCount += search.matchCount;
    const found: JsonObject[] = this.#options.filesOnly ? [{ path: search.path }] : search.matches;
    for (const one of found) {
      const bytes = jsonBytes(one) + 1;
      if (this.shown.length >= this.#options.limit) this.cut ??= 'limit';
      else if (this.#used + bytes > this.#options.room) this.cut ??= 'output';
      if (this.cut === 'limit' || this.cut === 'output') return;
      this.#used += bytes;
      this.shown.push(one);
    }
  }
}
