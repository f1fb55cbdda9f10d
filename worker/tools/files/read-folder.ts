// The names in one folder, sorted, with their types. Bounded: of a folder with more names than that, only a part is
// looked at and the rest is counted.
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';

export type EntryType = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device' | 'other';

export interface FolderEntry {
  readonly name: string;
  readonly type: EntryType;
}

export interface Folder {
  readonly entries: readonly FolderEntry[];
  /** Names that were counted only. */
  readonly uncounted: number;
}

const FOLDER_NAMES_MAX = 100_000;

export async function readFolder(path: string, signal: AbortSignal): Promise<Folder> {
  const entries: FolderEntry[] = [];
  let uncounted = 0;
  for await (const entry of await opendir(path, { bufferSize: 1024 })) {
    if (signal.aborted) break;
    if (entries.length < FOLDER_NAMES_MAX) entries.push({ name: entry.name, type: entryType(entry) });
    else uncounted += 1;
  }
  entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  return { entries, uncounted };
}

function entryType(entry: Dirent): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isFIFO()) return 'fifo';
  if (entry.isSocket()) return 'socket';
  return entry.isCharacterDevice() || entry.isBlockDevice() ? 'device' : 'other';
}
