// Counts what a folder holds, from the entries that the tools listed. Pure.
import { type FileKind, fileTypeOf } from './languages.js';

export interface Entry {
  /** Relative to the folder that is summarised; `/` between names. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** Null where the listing did not say. */
  readonly bytes: number | null;
}

export interface Group<Name> {
  readonly name: Name;
  readonly files: number;
  readonly bytes: number;
}

export interface FolderFacts {
  readonly files: number;
  readonly folders: number;
  readonly links: number;
  readonly others: number;
  readonly bytes: number;
  /** Files whose size is not known. */
  readonly unsized: number;
  /** Most files first. */
  readonly kinds: readonly Group<FileKind>[];
  /** Most bytes first. */
  readonly languages: readonly Group<string>[];
  /** Biggest first, at most ten. */
  readonly biggest: readonly Entry[];
  /** Folders at the top, with what is below each; most files first. */
  readonly tops: readonly Group<string>[];
}

const MOST_BIGGEST = 10;

export function folderFacts(entries: readonly Entry[]): FolderFacts {
  const kinds = new Map<FileKind, Group<FileKind>>();
  const languages = new Map<string, Group<string>>();
  const tops = new Map<string, Group<string>>();
  const count = { file: 0, folder: 0, link: 0, other: 0 };
  let bytes = 0;
  let unsized = 0;
  for (const entry of entries) {
    count[entry.kind] += 1;
    const slash = entry.path.indexOf('/');
    if (entry.kind === 'folder' && slash < 0) grow(tops, entry.path, 0, 0);
    if (entry.kind !== 'file') continue;
    const size = entry.bytes ?? 0;
    bytes += size;
    if (entry.bytes === null) unsized += 1;
    const type = fileTypeOf(entry.path);
    grow(kinds, type.kind, 1, size);
    if (type.language !== null) grow(languages, type.language, 1, size);
    if (slash > 0) grow(tops, entry.path.slice(0, slash), 1, size);
  }
  const byFiles = (left: Group<string>, right: Group<string>): number =>
    right.files - left.files || order(left.name, right.name);
  const byBytes = (left: Group<string>, right: Group<string>): number =>
    right.bytes - left.bytes || byFiles(left, right);
  return {
    files: count.file,
    folders: count.folder,
    links: count.link,
    others: count.other,
    bytes,
    unsized,
    kinds: [...kinds.values()].sort(byFiles),
    languages: [...languages.values()].sort(byBytes),
    biggest: biggestOf(entries),
    tops: [...tops.values()].sort(byFiles),
  };
}

function grow<Name>(groups: Map<Name, Group<Name>>, name: Name, files: number, bytes: number): void {
  const group = groups.get(name);
  groups.set(name, { name, files: (group?.files ?? 0) + files, bytes: (group?.bytes ?? 0) + bytes });
}

function biggestOf(entries: readonly Entry[]): Entry[] {
  return entries
    .filter((entry) => entry.kind === 'file' && (entry.bytes ?? 0) > 0)
    .sort((left, right) => (right.bytes ?? 0) - (left.bytes ?? 0) || order(left.path, right.path))
    .slice(0, MOST_BIGGEST);
}

function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
