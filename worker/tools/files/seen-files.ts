// What a turn has seen of files: a file that somebody else changed since must not be overwritten from old knowledge.
import type { BigIntStats } from 'node:fs';

const FILES_MAX = 10_000;
const byTurn = new Map<string, Map<string, string>>();

/** Equal stamps: very likely the same content. */
export function stampOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}`;
}

/** Remembers the state in which the turn with this process marker has seen or left a file. */
export function noteSeen(processMarker: string, real: string, stamp: string): void {
  let files = byTurn.get(processMarker);
  if (files === undefined) {
    // A worker serves one turn: what an earlier one saw is of no use.
    byTurn.clear();
    files = new Map();
    byTurn.set(processMarker, files);
  }
  files.delete(real);
  files.set(real, stamp);
  const oldest = files.keys().next().value;
  if (files.size > FILES_MAX && oldest !== undefined) files.delete(oldest);
}

export function seenStamp(processMarker: string, real: string): string | undefined {
  return byTurn.get(processMarker)?.get(real);
}

/** The turn has been told, or did it itself: what it knew of this place no longer counts. */
export function forgetSeen(processMarker: string, real: string): void {
  byTurn.get(processMarker)?.delete(real);
}
