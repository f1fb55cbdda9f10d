// The form with *** marks: Add File, Delete File, Update File (and Move to), parts that begin with @@.
import { ToolFailure } from '../files/tool-failure.js';
import { BARE_LINE, type FileChange, type Hunk, type PatchLine, parsePatchLine } from './patch-model.js';

const ADD = '*** Add File: ';
const DELETE = '*** Delete File: ';
const UPDATE = '*** Update File: ';
const MOVE = '*** Move to: ';
const END = '*** End Patch';
const END_OF_FILE = '*** End of File';

/** `from`: the line after Begin Patch. */
export function parseMarkedPatch(lines: readonly string[], from: number): readonly FileChange[] {
  const changes: FileChange[] = [];
  let at = from;
  while (at < lines.length) {
    const line = (lines[at] ?? '').trimEnd();
    if (line === END) return changes;
    const end = nextMark(lines, at + 1);
    const body = lines.slice(at + 1, end);
    if (line.startsWith(ADD)) changes.push(added(pathOf(line, ADD), body));
    else if (line.startsWith(DELETE)) changes.push({ kind: 'delete', path: pathOf(line, DELETE), hunks: [] });
    else if (line.startsWith(UPDATE)) changes.push(updated(pathOf(line, UPDATE), body));
    else if (line !== '')
      throw new ToolFailure(
        `Line ${at + 1} of the patch is no mark: ${JSON.stringify(line.slice(0, 120))}. Expected *** Add File, *** Delete File, *** Update File or *** End Patch.`,
      );
    at = end;
  }
  throw new ToolFailure('The patch has no *** End Patch; it may have been cut. Nothing was written.');
}

function pathOf(line: string, mark: string): string {
  return line.slice(mark.length).trim();
}

/** The next line that begins a file or ends the patch. */
function nextMark(lines: readonly string[], from: number): number {
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.startsWith(ADD) || line.startsWith(DELETE) || line.startsWith(UPDATE) || line.trimEnd() === END)
      return at;
  }
  return lines.length;
}

function added(path: string, body: readonly string[]): FileChange {
  const lines = body.map((line): PatchLine => {
    if (line.startsWith('+')) return { kind: '+', text: line.slice(1) };
    if (line.trim() === '') return BARE_LINE;
    throw new ToolFailure(
      `Every line of a new file begins with +; in ${path} this one does not: ${JSON.stringify(line.slice(0, 120))}.`,
    );
  });
  while (lines.at(-1) === BARE_LINE) lines.pop();
  const all = lines.map((line): PatchLine => ({ kind: '+', text: line.text }));
  return { kind: 'create', path, hunks: all.length === 0 ? [] : [hunkOf(all, [], false)], mode: null };
}

function updated(path: string, body: readonly string[]): FileChange {
  const moved = body[0]?.startsWith(MOVE) === true;
  const newPath = moved ? pathOf(body[0] ?? '', MOVE) : path;
  const hunks = hunksOf(path, moved ? body.slice(1) : body);
  if (hunks.length === 0 && !moved) throw new ToolFailure(`The patch changes nothing in ${path}.`);
  return { kind: 'update', path, newPath, hunks, mode: null };
}

function hunksOf(path: string, body: readonly string[]): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let anchors: string[] = [];
  let lines: PatchLine[] = [];
  let atEnd = false;
  const close = (): void => {
    while (lines.at(-1) === BARE_LINE) lines.pop();
    if (lines.some((line) => line.kind !== ' ')) hunks.push(hunkOf(lines, anchors, atEnd));
    else if (lines.length > 0)
      throw new ToolFailure(`A part of the patch for ${path} has neither - nor + lines.`);
    if (lines.length > 0) anchors = [];
    lines = [];
    atEnd = false;
  };
  for (const line of body) {
    if (line.startsWith('@@')) {
      close();
      const anchor = line
        .slice(2)
        .replace(/^ /, '')
        .replace(/\s*@@\s*$/, '');
      if (anchor.trim() !== '') anchors.push(anchor);
    } else if (line.trimEnd() === END_OF_FILE) atEnd = true;
    else {
      const parsed = parsePatchLine(line);
      if (parsed === null)
        throw new ToolFailure(
          `A line of the patch for ${path} begins with none of space, - and +: ${JSON.stringify(line.slice(0, 120))}.`,
        );
      lines.push(parsed);
    }
  }
  close();
  return hunks;
}

function hunkOf(lines: readonly PatchLine[], anchors: readonly string[], atEnd: boolean): Hunk {
  return { lines, line: null, anchors, oldEndsOpen: false, newEndsOpen: false, atEnd };
}
