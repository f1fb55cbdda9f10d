// AGENTS.md files: from the working folder up to the top of its project, outermost first, capped together.
// They are read as plain text and never make anything start.
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { cutText, wellFormed } from '../../shared/transcript/unicode.js';

const FILE = 'AGENTS.md';
/** Deepest folder nesting that is walked upwards. */
const LEVELS = 40;

export interface ProjectNote {
  /** Relative to the working folder. */
  readonly path: string;
  readonly text: string;
}

/** `cap_bytes` bounds all texts together; the nearest file is cut last. */
export function readProjectNotes(root: string, capBytes: number): ProjectNote[] {
  const folders = foldersUpToTop(root);
  const notes: ProjectNote[] = [];
  let leftBytes = capBytes;
  for (const folder of folders) {
    if (leftBytes <= 0) break;
    const text = readNote(join(folder, FILE), leftBytes);
    if (text === null || text.trim() === '') continue;
    leftBytes -= Buffer.byteLength(text);
    notes.push({ path: relative(root, join(folder, FILE)) || FILE, text: text.trim() });
  }
  return notes.reverse();
}

/** Nearest first. The top is the nearest ancestor that is a repository; without one, the folder stands alone. */
function foldersUpToTop(root: string): string[] {
  const folders = [root];
  for (let folder = root; folders.length < LEVELS; folder = dirname(folder)) {
    if (folder !== root) folders.push(folder);
    if (existsSync(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) break;
  }
  return [root];
}

function readNote(path: string, capBytes: number): string | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    if (!fstatSync(descriptor).isFile()) return null;
    const buffer = Buffer.alloc(capBytes + 1);
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    const text = wellFormed(buffer.subarray(0, Math.min(length, capBytes)).toString('utf8'));
    return length > capBytes ? `${cutText(text, capBytes)}\n(cut: the file is longer than the cap)` : text;
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}
