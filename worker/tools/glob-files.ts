// glob_files: paths that fit a pattern, by name or newest first.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type GlobFilesParams, globFilesParams } from '../../shared/tools/file-read-tools.js';
import { sendableText } from '../../shared/transcript/unicode.js';
import { checked } from './checked.js';
import type { ToolContext } from './executor.js';
import { onFile } from './files/errno.js';
import { howManyFit } from './files/fit-json.js';
import { pooled } from './files/pooled.js';
import { resolveExisting, showPath } from './files/resolve-path.js';
import { mustGoOn, ToolFailure } from './files/tool-failure.js';
import { matchesGlob, parseGlob } from './search/glob.js';
import { newReport, type WalkReport, walkFiles } from './search/walk-files.js';

const WALK_MS = 15_000;
const ENTRIES_MAX = 500_000;
const FOUND_MAX = 50_000;
const FRAME_BYTES = 800;
const LANES = 16;

export const globFiles = checked(globFilesParams, async (params, context) => {
  const { base, pattern } = splitBase(params.pattern);
  const path = base.startsWith('/') ? base : join(params.path, base);
  const place = await resolveExisting(context.workspaceRoot, path);
  const stats = await onFile(place.shown, () => stat(place.real));
  if (!stats.isDirectory()) throw new ToolFailure(`${place.shown} is no folder; path must be one.`);
  const report = newReport();
  const found = await onFile(place.shown, () => find(place.real, pattern, params, context, report));
  mustGoOn(context.signal);
  const paths = found.map((names) => join(place.path, ...names));
  const sorted = params.sort === 'modified' ? await newestFirst(paths) : paths;
  const shown = sorted
    .slice(0, params.limit)
    .map((each) => sendableText(showPath(context.workspaceRoot, each)));
  const fit = howManyFit(shown, context.limits.tool_output_bytes - FRAME_BYTES);
  const truncated = fit < found.length || report.cut !== null;
  const notes = notesOf(report, found.length);
  return {
    content: {
      files: shown.slice(0, fit),
      count: found.length,
      truncated,
      ...(notes.length > 0 ? { note: notes.join(' ') } : {}),
    },
    is_error: false,
  };
});

/** The folders that the pattern names outright, so that only they are walked; and the rest of it. */
function splitBase(text: string): { base: string; pattern: string } {
  const segments = text.split('/');
  const plain = segments.findIndex((segment) => /[*?[\]{}\\]/.test(segment));
  const last = segments.at(-1) === '' ? segments.length - 2 : segments.length - 1;
  const count = Math.max(0, Math.min(plain === -1 ? last : plain, last));
  const base = segments.slice(0, count).join('/');
  return {
    base: base === '' && text.startsWith('/') ? '/' : base || '.',
    pattern: segments.slice(count).join('/'),
  };
}

async function find(
  root: string,
  pattern: string,
  params: GlobFilesParams,
  context: ToolContext,
  report: WalkReport,
): Promise<readonly (readonly string[])[]> {
  const globs = parseGlob(pattern);
  if (globs === null) throw new ToolFailure('The pattern has too many alternatives in braces; use fewer.');
  const folders = pattern.endsWith('/');
  const found: (readonly string[])[] = [];
  const options = {
    clock: context.clock,
    signal: context.signal,
    timeMs: WALK_MS,
    entriesMax: ENTRIES_MAX,
    includeIgnored: params.include_ignored,
  };
  for await (const { names, type } of walkFiles(root, options, report)) {
    if ((type === 'directory') !== folders) continue;
    if (!globs.some((glob) => matchesGlob(glob, names))) continue;
    found.push(names);
    if (found.length < FOUND_MAX) continue;
    report.cut = 'entries';
    break;
  }
  return found;
}

async function newestFirst(paths: readonly string[]): Promise<readonly string[]> {
  const times = await pooled(
    paths,
    LANES,
    async (path) => (await stat(path).catch(() => null))?.mtimeMs ?? 0,
  );
  return paths
    .map((path, index) => ({ path, time: times[index] ?? 0 }))
    .sort((left, right) => right.time - left.time)
    .map(({ path }) => path);
}

function notesOf(report: WalkReport, found: number): string[] {
  const notes: string[] = [];
  if (report.cut !== null)
    notes.push('The search was cut: there are too many files. Name a folder in path or pattern.');
  if (found === 0 && report.ignored > 0)
    notes.push(`${report.ignored} ignored entries were passed over; include_ignored looks at them too.`);
  if (report.unreadable > 0) notes.push(`${report.unreadable} folders could not be read.`);
  return notes;
}
