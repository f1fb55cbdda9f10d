// Tools that change files. Each replaces a file in one step or leaves it as it was.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';

const TEXT_MAX = 64 * 1024 * 1024;

const path = v.pipe(v.string(), v.maxLength(4096), v.description('relative to the workspace, or absolute'));

export const writeFileParams = v.strictObject({
  path,
  content: v.pipe(v.string(), v.maxLength(TEXT_MAX)),
  create_parents: v.optional(v.pipe(v.boolean(), v.description('makes missing folders')), true),
  overwrite: v.optional(v.pipe(v.boolean(), v.description('false: fails when the file exists')), true),
});

export const editFileParams = v.strictObject({
  path,
  old_text: v.pipe(
    v.string(),
    v.maxLength(TEXT_MAX),
    v.description('exactly as in the file, indentation included'),
  ),
  new_text: v.pipe(v.string(), v.maxLength(TEXT_MAX)),
  replace_all: v.optional(v.pipe(v.boolean(), v.description('replaces every occurrence')), false),
  expected_count: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.description('fails unless old_text occurs this often; above 1 it goes with replace_all'),
    ),
  ),
});

export const applyPatchParams = v.strictObject({
  patch: v.pipe(v.string(), v.minLength(1), v.maxLength(TEXT_MAX)),
});

export const FILE_EDIT_TOOLS: readonly ToolSpec[] = [
  {
    name: 'write_file',
    description:
      'Writes a whole file as UTF-8, new or in place of what it held; missing folders are made. An existing file keeps ' +
      'its mode, and a link is followed. Fails when the file was changed by somebody else since read_file showed it in ' +
      'this turn. Returns bytes and whether the file was created. To change a part of a file use edit_file.',
    params: writeFileParams,
    action: 'edit',
    runs: 'worker',
    readOnly: false,
  },
  {
    name: 'edit_file',
    description:
      'Replaces old_text by new_text in a text file; all other bytes stay as they are (encoding, BOM, line ends, mode). ' +
      '\\n in old_text also matches \\r\\n, and new lines get the line ends of the place. old_text must occur exactly ' +
      'once: otherwise nothing is written, and the error names the lines, or the nearest text that differs. Give more ' +
      'lines around the place, or replace_all. An empty old_text is only for a file that is empty or missing. Returns ' +
      'replacements and the lines they stand on.',
    params: editFileParams,
    action: 'edit',
    runs: 'worker',
    readOnly: false,
  },
  {
    name: 'apply_patch',
    description:
      'Changes several files at once, all of them or none: creates, changes, renames, deletes. Takes a unified diff (as ' +
      'of git diff; /dev/null for new and deleted files, rename from/to), or the form "*** Begin Patch", then ' +
      '"*** Add File: PATH" with + lines, "*** Delete File: PATH", or "*** Update File: PATH" (and "*** Move to: PATH") ' +
      'with parts that begin with @@ and lines that begin with space, - or +, then "*** End Patch". Context and removed ' +
      'lines must be exactly those of the file; line numbers may be off when the place is clear. Returns what was done ' +
      'to each file, or each part that does not apply and why.',
    params: applyPatchParams,
    action: 'edit',
    runs: 'worker',
    readOnly: false,
  },
];
