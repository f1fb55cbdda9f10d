// Whether a file is still what a write was worked out from, asked just before it is written.
import { lstat } from 'node:fs/promises';
import { errnoOf } from './errno.js';
import { openRegular, readRange } from './regular-file.js';
import { ToolFailure } from './tool-failure.js';

/** Throws unless the file holds `expected`. Compares content: times are too coarse to tell two quick writes apart. */
export async function holdsStill(
  real: string,
  shown: string,
  expected: Buffer | 'absent' | 'anything',
): Promise<void> {
  if (expected === 'anything') return;
  const stats = await lstat(real).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (expected === 'absent') {
    if (stats !== null)
      throw new ToolFailure(`${shown} was created by somebody else meanwhile; nothing was written.`);
    return;
  }
  if (stats === null)
    throw new ToolFailure(`${shown} was deleted by somebody else meanwhile; nothing was written.`);
  if (!stats.isFile() || stats.size !== expected.length) throw changed(shown);
  const { handle } = await openRegular({ real, shown });
  try {
    const bytes = await readRange(handle, 0, expected.length + 1);
    if (!bytes.equals(expected)) throw changed(shown);
  } finally {
    await handle.close();
  }
}

export function changed(shown: string): ToolFailure {
  return new ToolFailure(
    `${shown} was changed by somebody else meanwhile; nothing was written. Read it again.`,
    {
      code: 'changed',
    },
  );
}
