// grep_files: lines that match a pattern, in one file or in all files below a folder.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../shared/json.js';
import { type GrepFilesParams, grepFilesParams } from '../../shared/tools/file-read-tools.js';
import { sendableText } from '../../shared/transcript/unicode.js';
import { checked } from './checked.js';
import type { ToolContext } from './executor.js';
import { onFile } from './files/errno.js';
import { mustBeRegular } from './files/regular-file.js';
import { type Place, resolveExisting, showPath } from './files/resolve-path.js';
import { ToolFailure } from './files/tool-failure.js';
import { FileSearch } from './search/file-search.js';
import { type Glob, matchesGlob, parseGlob } from './search/glob.js';
import { parsePattern } from './search/parse-pattern.js';
import { newReport, type WalkReport, walkFiles } from './search/walk-files.js';

const SEARCH_MS = 20_000;
const ENTRIES_MAX = 500_000;
const BATCH = 16;
const FRAME_BYTES = 1200;

export const grepFiles = checked(grepFilesParams, async (params, context) => {
  const pattern = parsePattern(params.pattern, params.ignore_case);
  const globs = params.glob === undefined ? null : globsOf(params.glob);
  const place = await resolveExisting(context.workspaceRoot, params.path);
  const search = new FileSearch({
    ...pattern,
    context: params.context,
    filesOnly: params.files_only,
    limit: params.limit,
    room: Math.max(200, context.limits.tool_output_bytes - FRAME_BYTES),
    clock: context.clock,
    signal: context.signal,
    timeMs: SEARCH_MS,
  });
  const report = newReport();
  await onFile(place.shown, () => searchPlace(place, search, { params, context, globs, report }));
  if (search.cut === 'interrupted' || report.cut === 'interrupted')
    throw new ToolFailure('Interrupted: the turn is ending.');
  if (search.cut === 'pattern' && search.shown.length === 0) throw tooSlow(search.slowAt);
  return { content: contentOf(search, report, params), is_error: false };
});

interface Job {
  readonly params: GrepFilesParams;
  readonly context: ToolContext;
  readonly globs: readonly Glob[] | null;
  readonly report: WalkReport;
}

/** A pattern without a slash is meant for names at any depth, as in other search tools. */
function globsOf(text: string): readonly Glob[] {
  const globs = parseGlob(text.includes('/') ? text : `**/${text}`);
  if (globs === null) throw new ToolFailure('glob has too many alternatives in braces; use fewer.');
  return globs;
}

async function searchPlace(
  place: Place,
  search: FileSearch,
  { params, context, globs, report }: Job,
): Promise<void> {
  const stats = await stat(place.real);
  if (!stats.isDirectory()) {
    mustBeRegular(stats, place.shown);
    await search.files([[place.real, place.shown]]);
    return;
  }
  const options = {
    clock: context.clock,
    signal: context.signal,
    timeMs: SEARCH_MS,
    entriesMax: ENTRIES_MAX,
    includeIgnored: params.include_ignored,
  };
  let batch: [path: string, shown: string][] = [];
  for await (const { names, type } of walkFiles(place.real, options, report)) {
    if (type !== 'file' || (globs !== null && !globs.some((glob) => matchesGlob(glob, names)))) continue;
    const shown = sendableText(showPath(context.workspaceRoot, join(place.path, ...names)));
    batch.push([join(place.real, ...names), shown]);
    if (batch.length < BATCH) continue;
    if (!(await search.files(batch))) return;
    batch = [];
  }
  await search.files(batch);
}

function contentOf(search: FileSearch, report: WalkReport, params: GrepFilesParams): JsonObject {
  const cutBy = search.cut ?? report.cut;
  const skipped = Object.entries(search.skipped).filter(([, count]) => count > 0);
  const notes = notesOf(search, report, cutBy);
  const found: JsonObject = params.files_only
    ? { files: search.shown.map((one) => one['path'] ?? '') }
    : { matches: search.shown, match_count: search.matchCount };
  return {
    ...found,
    files_with_matches: search.fileCount,
    files_searched: search.searched,
    ...(skipped.length > 0 ? { skipped: Object.fromEntries(skipped) } : {}),
    truncated: cutBy !== null,
    ...(cutBy === null ? {} : { cut_by: cutBy }),
    ...(notes.length > 0 ? { note: notes.join(' ') } : {}),
  };
}

function notesOf(search: FileSearch, report: WalkReport, cutBy: string | null): string[] {
  const notes: string[] = [];
  if (cutBy === 'limit' || cutBy === 'output')
    notes.push(
      'There are more matches, and match_count is only what was seen; narrow pattern, path or glob.',
    );
  if (cutBy === 'time' || cutBy === 'entries')
    notes.push('Not all files were searched; name a folder in path, or a glob.');
  if (cutBy === 'pattern') notes.push(tooSlow(search.slowAt).message);
  else if (search.slowAt !== null)
    notes.push(`The pattern took too long on ${search.slowAt}; that line was passed over.`);
  if (search.longLines > 0)
    notes.push(`Of ${search.longLines} very long lines only the beginning was searched.`);
  if (search.fileCount === 0 && report.ignored > 0)
    notes.push(`${report.ignored} ignored entries were passed over; include_ignored searches them too.`);
  if (report.unreadable > 0) notes.push(`${report.unreadable} folders could not be read.`);
  return notes;
}

function tooSlow(place: string | null): ToolFailure {
  return new ToolFailure(
    `The pattern backtracks too much (${place ?? 'some line'}); make it simpler, without repeats inside repeats.`,
    { code: 'slow_pattern' },
  );
}
