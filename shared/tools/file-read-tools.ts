// Tools that look at files and change nothing: list, read, search, find by name.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';

const path = v.pipe(v.string(), v.maxLength(4096), v.description('relative to the workspace, or absolute'));
const flag = (text: string, fallback: boolean) =>
  v.optional(v.pipe(v.boolean(), v.description(text)), fallback);
const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

export const listDirParams = v.strictObject({
  path: v.optional(path, '.'),
  depth: v.optional(v.pipe(whole(1, 5), v.description('levels of folders to list')), 1),
  hidden: flag('also names that begin with a dot', true),
  limit: v.optional(v.pipe(whole(1, 5000), v.description('entries to show at most')), 500),
});

export const readFileParams = v.strictObject({
  path,
  start_line: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(-100_000),
      v.maxValue(1e12),
      v.description('first line, counted from 1; -N: the last N lines'),
    ),
  ),
  end_line: v.optional(v.pipe(whole(1, 1e12), v.description('last line, included'))),
  byte_offset: v.optional(
    v.pipe(
      whole(0, Number.MAX_SAFE_INTEGER),
      v.description('read bytes from here instead of lines, for lines that are too long'),
    ),
  ),
  byte_length: v.optional(v.pipe(whole(1, 1_000_000), v.description('bytes to read from byte_offset'))),
  line_numbers: flag('puts the number and a tab before each line', false),
});

const includeIgnored = flag(
  'also what .gitignore names, node_modules, .hg, .svn and the like (.git never, unless path names it)',
  false,
);

export const grepFilesParams = v.strictObject({
  pattern: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(2000),
    v.description('JavaScript regular expression, matched line by line'),
  ),
  path: v.optional(path, '.'),
  glob: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(1000),
      v.description('only such files, like *.ts or src/**/*.{ts,tsx}'),
    ),
  ),
  ignore_case: flag('A matches a', false),
  context: v.optional(v.pipe(whole(0, 10), v.description('lines to show before and after each match')), 0),
  files_only: flag('only the paths of files that match', false),
  limit: v.optional(v.pipe(whole(1, 2000), v.description('matches to show at most')), 200),
  include_ignored: includeIgnored,
});

export const globFilesParams = v.strictObject({
  pattern: v.pipe(v.string(), v.minLength(1), v.maxLength(1000)),
  path: v.optional(path, '.'),
  sort: v.optional(v.pipe(v.picklist(['name', 'modified']), v.description('modified: newest first')), 'name'),
  limit: v.optional(v.pipe(whole(1, 5000), v.description('paths to show at most')), 500),
  include_ignored: includeIgnored,
});

export type ListDirParams = v.InferOutput<typeof listDirParams>;
export type ReadFileParams = v.InferOutput<typeof readFileParams>;
export type GrepFilesParams = v.InferOutput<typeof grepFilesParams>;
export type GlobFilesParams = v.InferOutput<typeof globFilesParams>;

export const FILE_READ_TOOLS: readonly ToolSpec[] = [
  {
    name: 'list_dir',
    description:
      'Lists a folder. Returns entries with path (relative to the folder), type, size in bytes, time of change, and ' +
      'where links point; sorted by name, outer levels first. Links to folders are not entered, and with depth above ' +
      '1 neither are .git and node_modules. What does not fit is counted in omitted, and truncated is true.',
    params: listDirParams,
    action: 'read',
    runs: 'worker',
    readOnly: true,
  },
  {
    name: 'read_file',
    description:
      'Reads a text file, whole or some lines. Returns content with line ends as \\n, start_line, end_line, total_lines ' +
      '(null when the file is too large to count), bytes, encoding (utf-8, utf-16le, utf-16be, latin1) and line_ends. ' +
      'When not everything fits, truncated is true and note says how to read on. Lines over 2000 characters are cut: ' +
      'read those with byte_offset. Binary files and pictures are described by mime, size and dimensions. Only regular ' +
      'files can be read.',
    params: readFileParams,
    action: 'read',
    runs: 'worker',
    readOnly: true,
  },
  {
    name: 'grep_files',
    description:
      'Searches file contents for a JavaScript regular expression (a leading (?i) ignores case), line by line, in a ' +
      'folder and all below it, or in one file. Returns matches with path, line and text (long lines cut around the ' +
      'match), with counts, in order of path. Passes over binary files, .git, node_modules and what .gitignore names. ' +
      'truncated is true and cut_by says why when the search stopped early.',
    params: grepFilesParams,
    action: 'search',
    runs: 'worker',
    readOnly: true,
  },
  {
    name: 'glob_files',
    description:
      'Finds files by path pattern: * and ? stay within one name, ** spans folders, {a,b} and [a-z] work, names that ' +
      'begin with a dot match too. "*.ts" looks only in the folder itself, "**/*.ts" in all below; a pattern that ' +
      'ends in / finds folders. Returns files, paths that other tools take as they are. Passes over .git, ' +
      'node_modules and what .gitignore names. truncated is true when there are more.',
    params: globFilesParams,
    action: 'search',
    runs: 'worker',
    readOnly: true,
  },
];
