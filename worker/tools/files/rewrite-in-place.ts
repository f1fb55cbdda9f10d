// Writes new content into a file that must stay the same file: it has further names, or an owner that a new file could not
// have. Not in one step, so the old bytes are put back when the system refuses half-way.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { mustBeRegular, readRange } from './regular-file.js';
import { changed } from './still-holds.js';

export interface Rewrite {
  readonly real: string;
  readonly shown: string;
  readonly bytes: Buffer;
  readonly expected: Buffer | 'absent' | 'anything';
  readonly mode?: number;
}

export async function rewriteInPlace({ real, shown, bytes, expected, mode }: Rewrite): Promise<void> {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
  const handle = await open(real, flags);
  try {
    const stats = await handle.stat();
    mustBeRegular(stats, shown);
    const before = await readRange(handle, 0, stats.size);
    if (expected === 'absent' || (expected !== 'anything' && !before.equals(expected))) throw changed(shown);
    try {
      await overwrite(handle, bytes);
    } catch (error) {
      await overwrite(handle, before).catch(() => undefined);
      throw error;
    }
    if (mode !== undefined) await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function overwrite(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, written);
    written += bytesWritten;
  }
  await handle.truncate(bytes.length);
}
