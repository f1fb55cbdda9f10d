// Opens regular files and nothing else. A pipe would wait for a writer, a device may have no end or act when opened; so
// the type is looked at before opening, and again on the open descriptor, in case the file was swapped in between.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat, statfs } from 'node:fs/promises';
import { onFile } from './errno.js';
import type { Place } from './resolve-path.js';
import { ToolFailure } from './tool-failure.js';

export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
  /** Size by the file system. Null where it means nothing: kernel files make their content while it is read. */
  readonly bytes: number | null;
}

/** File systems whose regular files have no true size. */
const KERNEL_FILE_SYSTEMS = new Set([0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270]);

export function typeName(stats: Stats): string {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'symlink';
  if (stats.isFIFO()) return 'fifo';
  if (stats.isSocket()) return 'socket';
  return stats.isCharacterDevice() || stats.isBlockDevice() ? 'device' : 'other';
}

const WHAT: Readonly<Record<string, string>> = {
  directory: 'is a folder; list_dir shows what is in it',
  fifo: 'is a named pipe; only regular files can be used',
  socket: 'is a socket; only regular files can be used',
  device: 'is a device; only regular files can be used',
};

/** Throws unless these are the stats of a regular file. */
export function mustBeRegular(stats: Stats, shown: string): void {
  if (stats.isFile()) return;
  throw new ToolFailure(`${shown} ${WHAT[typeName(stats)] ?? 'is no regular file'}.`, {
    type: typeName(stats),
  });
}

/** Opens for reading; the caller closes. Never waits for another process. */
export async function openRegular(place: Pick<Place, 'real' | 'shown'>): Promise<OpenFile> {
  const { real, shown } = place;
  return await onFile(shown, async () => {
    mustBeRegular(await stat(real), shown);
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;
    const handle = await open(real, flags);
    try {
      const stats = await handle.stat();
      mustBeRegular(stats, shown);
      // Only an empty or page-sized file can be a kernel file; all others are spared the question.
      const kernel = stats.size <= 4096 && KERNEL_FILE_SYSTEMS.has((await statfs(real)).type);
      return { handle, stats, bytes: kernel ? null : stats.size };
    } catch (error) {
      await handle.close();
      throw error;
    }
  });
}

/** Fills as much of `length` bytes from `position` as the file has. */
export async function readRange(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
