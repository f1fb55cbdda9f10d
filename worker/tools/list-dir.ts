// list_dir: the entries of a folder, level by level, with size, time and where links point.
import { lstat, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../shared/json.js';
import { type ListDirParams, listDirParams } from '../../shared/tools/file-read-tools.js';
import { sendableText } from '../../shared/transcript/unicode.js';
import { checked } from './checked.js';
import type { ToolContext } from './executor.js';
import { errnoOf, onFile } from './files/errno.js';
import { howManyFit } from './files/fit-json.js';
import { pooled } from './files/pooled.js';
import { type FolderEntry, readFolder } from './files/read-folder.js';
import { typeName } from './files/regular-file.js';
import { resolveExisting } from './files/resolve-path.js';
import { mustGoOn, ToolFailure } from './files/tool-failure.js';

const NOT_ENTERED = new Set(['.git', 'node_modules']);
/** Entries that are gathered before the walk stops; the rest is not even counted. */
const WALK_MAX = 100_000;
const WALK_MS = 10_000;
const LANES = 16;
const FRAME_BYTES = 1000;

interface Found extends FolderEntry {
  /** Relative to the folder that is listed. */
  readonly path: string;
}

interface Walk {
  readonly found: Found[];
  readonly notEntered: string[];
  readonly unreadable: string[];
  uncounted: number;
  /** Why the walk stopped before its end. */
  cut: string | null;
}

export const listDir = checked(listDirParams, async (params, context) => {
  const place = await resolveExisting(context.workspaceRoot, params.path);
  const stats = await onFile(place.shown, () => stat(place.real));
  if (!stats.isDirectory()) {
    const how = stats.isFile() ? 'read_file reads it' : 'list_dir lists folders only';
    throw new ToolFailure(`${place.shown} is no folder (${typeName(stats)}); ${how}.`);
  }
  const walk = await onFile(place.shown, () => walkLevels(place.real, params, context));
  const asked = walk.found.slice(0, params.limit);
  const entries = await pooled(asked, LANES, (entry) => describe(place.real, entry));
  const fit = howManyFit(entries, context.limits.tool_output_bytes - FRAME_BYTES);
  const omitted = walk.found.length - fit + walk.uncounted;
  const truncated = omitted > 0 || walk.cut !== null;
  const notes = notesOf(walk, omitted);
  const content: JsonObject = {
    path: place.shown,
    ...(place.isLink ? { link_to: place.real } : {}),
    entries: entries.slice(0, fit),
    total_entries: walk.found.length + walk.uncounted,
    omitted,
    truncated,
    ...(notes.length > 0 ? { note: notes.join(' ') } : {}),
  };
  return { content, is_error: false };
});

async function walkLevels(root: string, params: ListDirParams, context: ToolContext): Promise<Walk> {
  const walk: Walk = { found: [], notEntered: [], unreadable: [], uncounted: 0, cut: null };
  const endsAt = context.clock.monotonic() + WALK_MS;
  let level = [''];
  for (let depth = 1; depth <= params.depth && level.length > 0 && walk.cut === null; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      mustGoOn(context.signal);
      if (walk.found.length >= WALK_MAX) walk.cut = `there are more than ${WALK_MAX} entries`;
      if (context.clock.monotonic() > endsAt) walk.cut = `it took longer than ${WALK_MS} ms`;
      if (walk.cut !== null) break;
      const entered = await takeFolder(walk, root, folder, params, context.signal);
      next.push(...entered);
    }
    level = next;
  }
  return walk;
}

/** Adds the entries of one folder; returns the folders in it to go on with. */
async function takeFolder(
  walk: Walk,
  root: string,
  folder: string,
  params: ListDirParams,
  signal: AbortSignal,
): Promise<string[]> {
  const inside: string[] = [];
  try {
    const { entries, uncounted } = await readFolder(join(root, folder), signal);
    walk.uncounted += uncounted;
    for (const entry of entries) {
      if (!params.hidden && entry.name.startsWith('.')) continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      walk.found.push({ ...entry, path });
      if (entry.type !== 'directory') continue;
      if (!NOT_ENTERED.has(entry.name)) inside.push(path);
      else if (params.depth > 1) walk.notEntered.push(path);
    }
  } catch (error) {
    if (folder === '' || errnoOf(error) === null) throw error;
    walk.unreadable.push(folder);
  }
  return inside;
}

async function describe(root: string, { path, type }: Found): Promise<JsonObject> {
  const full = join(root, path);
  const shown = sendableText(path);
  const stats = await lstat(full).catch(() => null);
  // Gone since the folder was read, or a name that is no UTF-8.
  if (stats === null) return { path: shown, type, size: null };
  const about = {
    path: shown,
    type: typeName(stats),
    size: stats.isFile() ? stats.size : null,
    modified: stats.mtime.toISOString(),
  };
  if (!stats.isSymbolicLink()) return about;
  const target = sendableText(await readlink(full).catch(() => '?'));
  const end = await stat(full).catch(() => null);
  return { ...about, target, target_type: end === null ? 'missing' : typeName(end) };
}

function notesOf(walk: Walk, omitted: number): string[] {
  const notes: string[] = [];
  if (walk.cut !== null) notes.push(`The listing was cut: ${walk.cut}.`);
  if (omitted > 0)
    notes.push(`${omitted} entries are not shown; list a folder further in, or use glob_files.`);
  if (walk.notEntered.length > 0) notes.push(`Not entered: ${someOf(walk.notEntered)}.`);
  if (walk.unreadable.length > 0) notes.push(`Could not be read: ${someOf(walk.unreadable)}.`);
  return notes;
}

function someOf(paths: readonly string[]): string {
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return `${sendableText(paths.slice(0, 5).join(', '))}${more}`;
}
