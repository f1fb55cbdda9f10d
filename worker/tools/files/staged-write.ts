// The one way files are written. A write is staged first (a finished file beside its target), checked again, and then
// takes its place in one step. Where a new file would break what the old one is (a further hard link, an owner that is not
// ours, a folder that takes no new files) the old one is rewritten in place instead.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf, onFile } from './errno.js';
import { mustBeRegular } from './regular-file.js';
import { rewriteInPlace } from './rewrite-in-place.js';
import { holdsStill } from './still-holds.js';
import { ToolFailure } from './tool-failure.js';

/** What the target must be at the moment of writing: these bytes, nothing, or whatever it is. */
export type Expected = Buffer | 'absent' | 'anything';

export interface WriteOrder {
  /** Absolute, links resolved. */
  readonly real: string;
  readonly shown: string;
  readonly bytes: Buffer;
  readonly expected: Expected;
  /** Permission bits; without them an existing file keeps its own, and a new one gets 0644 less the umask. */
  readonly mode?: number;
}

export interface StagedWrite {
  readonly order: WriteOrder;
  /** Throws when the target is not what was expected any more. */
  check(): Promise<void>;
  /** Checks, then writes. After this nothing can be discarded. */
  commit(): Promise<void>;
  /** Leaves everything as it was. */
  discard(): Promise<void>;
}

const NEW_MODE = 0o644;
let stagings = 0;

/** Makes missing folders above a file. */
export async function makeParents(real: string, shown: string): Promise<void> {
  await onFile(`The folder of ${shown}`, () => makeFolders(dirname(real)));
}

/**
 * One level after the other. The host's own way of making parents tries for ever where the system answers "no such
 * file" below a folder that is there, as /proc does.
 */
async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (await isFolder(path)) return;
    const parent = dirname(path);
    if (errnoOf(error) !== 'ENOENT' || (await isFolder(parent))) throw error;
    await makeFolders(parent);
    await makeFolders(path);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
}

/** Stages and commits in one. */
export async function writeWhole(order: WriteOrder): Promise<void> {
  const staged = await stageWrite(order);
  try {
    await staged.commit();
  } catch (error) {
    await staged.discard();
    throw error;
  }
}

export async function stageWrite(order: WriteOrder): Promise<StagedWrite> {
  const { real, shown } = order;
  return await onFile(shown, async () => {
    const existing = await lstat(real).catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (existing !== null) mustBeRegular(existing, shown);
    const beside = existing === null || existing.nlink === 1 ? await stageBeside(order, existing) : null;
    return beside === null ? inPlace(order) : replacing(order, beside, existing === null);
  });
}

/** A complete file next to the target; null when it could not be made the same as the target. */
async function stageBeside(order: WriteOrder, existing: Stats | null): Promise<string | null> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  stagings += 1;
  const path = join(dirname(order.real), `.turnd-${process.pid}-${stagings}.tmp`);
  let handle: FileHandle;
  try {
    handle = await open(path, flags, existing === null ? (order.mode ?? NEW_MODE) : 0o600);
  } catch (error) {
    if (existing !== null && ['EACCES', 'EPERM', 'EROFS'].includes(errnoOf(error) ?? '')) return null;
    throw error;
  }
  try {
    await handle.writeFile(order.bytes);
    const same = existing === null || (await takeOver(handle, existing, order.mode));
    if (existing === null && order.mode !== undefined) await handle.chmod(order.mode);
    await handle.sync();
    await handle.close();
    if (same) return path;
    await unlink(path);
    return null;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

/** Gives the new file the owner and mode of the old one; false when that is not possible. */
async function takeOver(handle: FileHandle, existing: Stats, mode: number | undefined): Promise<boolean> {
  const own = await handle.stat();
  if (own.uid !== existing.uid || own.gid !== existing.gid) {
    const owned = await handle.chown(existing.uid, existing.gid).then(
      () => true,
      () => false,
    );
    if (!owned) return false;
  }
  // Without set-uid and set-gid: whoever could write the file must not speak with its owner's voice.
  await handle.chmod(mode ?? existing.mode & 0o1777);
  return true;
}

function replacing(order: WriteOrder, staged: string, isNew: boolean): StagedWrite {
  const { real, shown, expected } = order;
  const check = (): Promise<void> => holdsStill(real, shown, expected);
  return {
    order,
    check,
    commit: () =>
      onFile(shown, async () => {
        await check();
        if (isNew && expected === 'absent') await placeNew(staged, real, shown);
        else await rename(staged, real);
        await syncFolder(dirname(real));
      }),
    discard: () => unlink(staged).catch(() => undefined),
  };
}

/** Takes the place of nothing: fails when a file came to be there meanwhile. */
async function placeNew(staged: string, real: string, shown: string): Promise<void> {
  try {
    await link(staged, real);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST')
      throw new ToolFailure(`${shown} was created by somebody else meanwhile; nothing was written.`);
    // A file system without hard links: the check just before has to do.
    await rename(staged, real);
    return;
  }
  await unlink(staged);
}

function inPlace(order: WriteOrder): StagedWrite {
  const { real, shown, expected, bytes, mode } = order;
  return {
    order,
    check: () => holdsStill(real, shown, expected),
    commit: () =>
      onFile(shown, () =>
        rewriteInPlace({ real, shown, bytes, expected, ...(mode === undefined ? {} : { mode }) }),
      ),
    discard: () => Promise.resolve(),
  };
}

/** So that the new name survives a power cut; some file systems cannot, and need not. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY).catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
