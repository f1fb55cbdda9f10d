// Puts a damaged database out of the way, with its log and index, into a folder that says when. Nothing is ever deleted.
import { copyFileSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { damagedFolders, exists, type StatePaths, syncToDisk } from './state-dir.js';

const REPORT = 'report.txt';

/** The folder that now holds the database; null when there was nothing to move and nothing left over from before. */
export function moveAside(paths: StatePaths, nowMs: number): string | null {
  const parts = [paths.database, paths.wal, paths.shm].filter(exists);
  if (parts.length === 0) return unreported(paths);
  const folder = freshFolder(paths, nowMs);
  for (const part of parts) renameSync(part, join(folder, basename(part)));
  syncToDisk(folder);
  syncToDisk(paths.dir);
  return folder;
}

/** Says in the folder what became of its content; from then on it is only kept. */
export function report(folder: string, text: string): void {
  writeFileSync(join(folder, REPORT), `${text}\n`, { mode: 0o600 });
}

/** Copies the database to work on, so that what was moved aside stays as it was. False when there is no file to copy. */
export function copyForWork(folder: string, paths: StatePaths, target: string): boolean {
  const database = join(folder, basename(paths.database));
  if (lstatSync(database, { throwIfNoEntry: false })?.isFile() !== true) return false;
  copyFileSync(database, target);
  const wal = join(folder, basename(paths.wal));
  if (exists(wal)) copyFileSync(wal, `${target}-wal`);
  return true;
}

/** A folder whose salvage was cut short: the newest one without a report. */
function unreported(paths: StatePaths): string | null {
  return (
    damagedFolders(paths)
      .reverse()
      .find((folder) => !exists(join(folder, REPORT))) ?? null
  );
}

function freshFolder(paths: StatePaths, nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-');
  for (let count = 1; ; count += 1) {
    const folder = join(paths.dir, `damaged-${stamp}${count === 1 ? '' : `-${count}`}`);
    if (exists(folder)) continue;
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }
}
