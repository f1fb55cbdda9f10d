// What the system says about a file, as a sentence that a model can act on.
import { ToolFailure } from './tool-failure.js';

const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be accessed: permission denied',
  EPERM: 'cannot be changed: the system does not permit it',
  EISDIR: 'is a folder, not a file',
  ENOTDIR: 'does not exist: a part of the path is a file, not a folder',
  ELOOP: 'cannot be reached: its links go round in a circle',
  ENAMETOOLONG: 'has a name that is too long; use a shorter one',
  ENOSPC: 'cannot be written: the disk is full',
  EDQUOT: 'cannot be written: the disk quota is used up',
  EROFS: 'cannot be written: the file system is read-only',
  EFBIG: 'would be larger than the file system allows',
  ETXTBSY: 'cannot be written: the program in it is running',
  EEXIST: 'exists already',
  ENOTEMPTY: 'is a folder that is not empty',
  EMFILE: 'cannot be opened: too many files are open; try again with fewer calls at once',
  ENFILE: 'cannot be opened: too many files are open on this machine',
  ENXIO: 'is no regular file',
  EIO: 'cannot be read or written: the disk reports an error',
  EAGAIN: 'has no data that can be read now',
};

export function errnoOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** The failure of a system call on `shown`. What is no system error is thrown on as it is. */
export function fileFailure(error: unknown, shown: string): unknown {
  const code = errnoOf(error);
  if (code === null || error instanceof ToolFailure) return error;
  return new ToolFailure(`${shown} ${SENTENCES[code] ?? `cannot be used: ${code}`}.`, { code });
}

/** Runs system calls on `shown`; what they refuse becomes a ToolFailure. */
export async function onFile<T>(shown: string, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw fileFailure(error, shown);
  }
}
