// Unified diffs, of git and of others: sections per file, headers before the hunks.
import { ToolFailure } from '../files/tool-failure.js';
import { type DiffPaths, diffPath, gitHeaderPath, stripPrefixes } from './diff-paths.js';
import { BARE_LINE, type FileChange, type Hunk, type PatchLine, parsePatchLine } from './patch-model.js';

interface Section {
  oldPath: string | null;
  newPath: string | null;
  renameFrom: string | null;
  renameTo: string | null;
  created: boolean;
  deleted: boolean;
  mode: number | null;
  readonly hunks: Hunk[];
}

export function parseUnifiedDiff(lines: readonly string[]): readonly FileChange[] {
  const sections: Section[] = [];
  let section: Section | null = null;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.startsWith('diff --git ')) {
      section = newSection();
      sections.push(section);
      const path = gitHeaderPath(line.slice('diff --git '.length));
      section.oldPath = path;
      section.newPath = path;
    } else if (isFileHeader(lines, at)) {
      if (section === null || section.hunks.length > 0) {
        section = newSection();
        sections.push(section);
      }
      takePaths(section, line, lines[at + 1] ?? '');
      at += 1;
    } else if (line.startsWith('@@')) {
      if (section === null)
        throw new ToolFailure(
          `Line ${at + 1} of the patch begins a hunk, but no --- and +++ lines say of which file.`,
        );
      const read = readHunk(lines, at);
      section.hunks.push(read.hunk);
      at = read.end - 1;
    } else if (section !== null && section.hunks.length === 0) takeHeader(section, line);
  }
  return sections.map(changeOf);
}

function newSection(): Section {
  return {
    oldPath: null,
    newPath: null,
    renameFrom: null,
    renameTo: null,
    created: false,
    deleted: false,
    mode: null,
    hunks: [],
  };
}

function isFileHeader(lines: readonly string[], at: number): boolean {
  return lines[at]?.startsWith('--- ') === true && lines[at + 1]?.startsWith('+++ ') === true;
}

function takePaths(section: Section, oldLine: string, newLine: string): void {
  const paths: DiffPaths = stripPrefixes({
    old: diffPath(oldLine.slice(4)),
    new: diffPath(newLine.slice(4)),
  });
  section.created ||= paths.old === null;
  section.deleted ||= paths.new === null;
  section.oldPath = paths.old ?? paths.new;
  section.newPath = paths.new ?? paths.old;
}

/** The lines of git between its first line and the hunks. */
function takeHeader(section: Section, line: string): void {
  const [, mode] = /^(?:new file mode|new mode) (\d{6})\s*$/.exec(line) ?? [];
  if (mode === '120000' || mode === '160000')
    throw new ToolFailure('The patch makes a symbolic link or a submodule; make those with exec_command.');
  if (mode !== undefined) section.mode = mode.endsWith('755') ? 0o755 : 0o644;
  if (line.startsWith('new file mode')) section.created = true;
  if (line.startsWith('deleted file mode')) section.deleted = true;
  if (line.startsWith('rename from ')) section.renameFrom = diffPath(line.slice('rename from '.length));
  if (line.startsWith('rename to ')) section.renameTo = diffPath(line.slice('rename to '.length));
  if (line.startsWith('copy from '))
    throw new ToolFailure('The patch copies a file; give the copy as a new file.');
  if (line.startsWith('GIT binary patch') || /^Binary files .* differ/.test(line))
    throw new ToolFailure('The patch changes a binary file; only text can be patched.');
}

function changeOf(section: Section): FileChange {
  const path = section.renameFrom ?? section.oldPath;
  const newPath = section.renameTo ?? section.newPath;
  const { hunks, mode } = section;
  if (path === null || newPath === null)
    throw new ToolFailure('A part of the patch does not say which file it is for; give --- and +++ lines.');
  if (section.created) return { kind: 'create', path: newPath, hunks, mode };
  if (section.deleted) return { kind: 'delete', path, hunks };
  if (hunks.length === 0 && path === newPath && mode === null)
    throw new ToolFailure(`The patch changes nothing in ${path}.`);
  return { kind: 'update', path, newPath, hunks, mode };
}

const HUNK_HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** A hunk that begins at `at`. Its counts are a help, not a law: what the lines say is checked against the file anyway. */
function readHunk(lines: readonly string[], at: number): { hunk: Hunk; end: number } {
  const header = HUNK_HEADER.exec(lines[at] ?? '');
  let oldLeft = header === null ? Number.POSITIVE_INFINITY : Number(header[2] ?? 1);
  let newLeft = header === null ? Number.POSITIVE_INFINITY : Number(header[4] ?? 1);
  const body: PatchLine[] = [];
  let oldEndsOpen = false;
  let newEndsOpen = false;
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    if (line.startsWith('\\')) {
      const last = body.at(-1)?.kind;
      oldEndsOpen ||= last !== '+';
      newEndsOpen ||= last !== '-';
      continue;
    }
    const parsed = parsePatchLine(line);
    if (parsed === null || isFileHeader(lines, end)) break;
    const over = oldLeft <= 0 && newLeft <= 0;
    // Behind what was announced: a mail signature or an empty line ends the hunk, anything else belongs to it.
    if (over && (parsed === BARE_LINE || line.trimEnd() === '--')) break;
    body.push(parsed);
    if (parsed.kind !== '+') oldLeft -= 1;
    if (parsed.kind !== '-') newLeft -= 1;
  }
  if (header === null) while (body.at(-1) === BARE_LINE) body.pop();
  if (!body.some((line) => line.kind !== ' '))
    throw new ToolFailure(`The hunk on line ${at + 1} of the patch has neither - nor + lines.`);
  const start = header === null ? null : Number(header[1]);
  return { hunk: { lines: body, line: start, anchors: [], oldEndsOpen, newEndsOpen, atEnd: false }, end };
}
