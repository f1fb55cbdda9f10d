// The one place where a path that a model wrote becomes a place on the disk: checked, made absolute, links resolved.
// Everything that opens a file goes through here, so that a policy over files has one thing to judge.
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { errnoOf, fileFailure } from './errno.js';
import { ToolFailure } from './tool-failure.js';

export interface Place {
  /** Absolute, as asked for: links not resolved. */
  readonly path: string;
  /** Absolute, every link resolved; for what does not exist yet, where it would come to be. */
  readonly real: string;
  /** For people and models: relative to the workspace when inside, else absolute. */
  readonly shown: string;
  /** The last part of `path` is itself a symbolic link. */
  readonly isLink: boolean;
  readonly exists: boolean;
}

const PATH_BYTES_MAX = 4095;
const LINKS_MAX = 40;

/** Throws a ToolFailure for a path that names no place. A place where nothing is yet is fine. */
export async function resolvePlace(workspaceRoot: string, text: string): Promise<Place> {
  checkText(text);
  const path = resolve(workspaceRoot, text);
  const shown = showPath(workspaceRoot, path);
  try {
    const isLink = await isSymbolicLink(path);
    const { real, exists } = await follow(path);
    return { path, real, shown, isLink, exists };
  } catch (error) {
    throw fileFailure(error, shown);
  }
}

/** As resolvePlace, for what must exist; the failure names what is near. */
export async function resolveExisting(workspaceRoot: string, text: string): Promise<Place> {
  const place = await resolvePlace(workspaceRoot, text);
  if (place.exists) return place;
  const near = await whatIsNear(workspaceRoot, place.path);
  throw new ToolFailure(`${place.shown} does not exist. ${near}`, { code: 'ENOENT' });
}

export function showPath(workspaceRoot: string, path: string): string {
  const inside = relative(workspaceRoot, path);
  if (inside === '') return '.';
  return inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? path : inside;
}

function checkText(text: string): void {
  if (text === '') throw new ToolFailure('The path is empty; "." is the workspace.');
  if (text.includes('\0'))
    throw new ToolFailure('The path contains a NUL character; no file can have such a name.');
  if (!text.isWellFormed()) throw new ToolFailure('The path contains half a character (a lone surrogate).');
  if (Buffer.byteLength(text) > PATH_BYTES_MAX)
    throw new ToolFailure(
      `The path is too long: ${Buffer.byteLength(text)} bytes, at most ${PATH_BYTES_MAX}.`,
    );
  if (text === '~' || text.startsWith('~/'))
    throw new ToolFailure('~ is not expanded. Give an absolute path, or ./~ for a file of that name.');
}

async function isSymbolicLink(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return stats?.isSymbolicLink() === true;
}

/** Resolves links, those included whose target is missing: writing through such a link makes the target. */
async function follow(path: string, links = 0): Promise<{ real: string; exists: boolean }> {
  try {
    return { real: await realpath(path), exists: true };
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  const parent = dirname(path);
  if (parent === path) return { real: path, exists: true };
  if (await isSymbolicLink(path)) {
    if (links >= LINKS_MAX) throw new ToolFailure('The links of this path go round in a circle.');
    return await follow(resolve(await realpath(parent), await readlink(path)), links + 1);
  }
  const above = await follow(parent, links);
  return { real: join(above.real, basename(path)), exists: false };
}

const NEAR_MAX = 5;
const NAMES_MAX = 5000;

/** A sentence about the nearest folder that exists, and names in it that may have been meant. */
async function whatIsNear(workspaceRoot: string, path: string): Promise<string> {
  let folder = dirname(path);
  let missing = basename(path);
  for (;;) {
    const names = await readdir(folder).catch(() => null);
    if (names !== null) {
      const like = names.slice(0, NAMES_MAX).filter((name) => isLike(name, missing));
      const shown = showPath(workspaceRoot, folder);
      if (like.length === 0)
        return `The nearest folder that exists is ${shown}; list_dir shows what is in it.`;
      const places = like.slice(0, NEAR_MAX).map((name) => showPath(workspaceRoot, join(folder, name)));
      return `Similar names: ${places.join(', ')}.`;
    }
    if (dirname(folder) === folder) return 'list_dir shows what there is.';
    missing = basename(folder);
    folder = dirname(folder);
  }
}

function isLike(name: string, wanted: string): boolean {
  const [have, want] = [name.toLowerCase(), wanted.toLowerCase()];
  if (have === want || have.normalize() === want.normalize()) return true;
  const stem = (text: string): string => text.replace(/\.[^.]*$/, '').replace(/[-_ ]/g, '');
  return stem(want).length > 2 && stem(have) === stem(want);
}
