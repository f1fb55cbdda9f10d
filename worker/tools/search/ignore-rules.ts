// The rules of .gitignore files: later ones win over earlier ones, those of inner folders over those of outer ones.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { readRange } from '../files/regular-file.js';
import { type Glob, matchesGlob, parsePlainGlob } from './glob.js';

interface Rule {
  readonly glob: Glob;
  readonly negated: boolean;
  readonly foldersOnly: boolean;
}

/** The rules of one file, and those around it. */
export interface IgnoreRules {
  /** Names between the outermost folder and the one that the rules stand in. */
  readonly depth: number;
  readonly rules: readonly Rule[];
  readonly outer: IgnoreRules | null;
}

const FILE_BYTES_MAX = 512 * 1024;

/** Whether the place `names` (from the outermost folder on) is ignored. Does not ask for the folders above it. */
export function isIgnored(rules: IgnoreRules | null, names: readonly string[], isFolder: boolean): boolean {
  for (let level = rules; level !== null; level = level.outer) {
    const inside = names.slice(level.depth);
    const rule = level.rules.findLast(
      (one) => (isFolder || !one.foldersOnly) && matchesGlob(one.glob, inside),
    );
    if (rule !== undefined) return !rule.negated;
  }
  return false;
}

/** With the rules of a file in the folder that is `depth` names below the outermost one; the same when there is none. */
export async function withRulesOf(
  outer: IgnoreRules | null,
  folder: string,
  depth: number,
  name = '.gitignore',
): Promise<IgnoreRules | null> {
  const text = await readSmall(join(folder, name));
  if (text === null) return outer;
  const rules = parseIgnore(text);
  return rules.length === 0 ? outer : { depth, rules, outer };
}

export function parseIgnore(text: string): readonly Rule[] {
  const rules: Rule[] = [];
  for (const raw of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    // Spaces at the end do not count, unless the last one is escaped.
    let line = raw.replace(/(?<!\\) +$/, '');
    if (line === '' || line.startsWith('#')) continue;
    const negated = line.startsWith('!');
    if (negated) line = line.slice(1);
    const foldersOnly = line.endsWith('/');
    if (foldersOnly) line = line.slice(0, -1);
    if (line === '') continue;
    const anchored = line.includes('/');
    const glob = parsePlainGlob(line);
    // "x/**" is what is inside x, not x itself.
    const inside: Glob = line.endsWith('/**') ? [...glob, [{ is: 'star' }]] : glob;
    rules.push({ glob: anchored ? inside : ['**', ...inside], negated, foldersOnly });
  }
  return rules;
}

async function readSmall(path: string): Promise<string | null> {
  try {
    const handle = await open(path, 'r');
    try {
      const stats = await handle.stat();
      return stats.isFile()
        ? (await readRange(handle, 0, Math.min(stats.size, FILE_BYTES_MAX))).toString()
        : null;
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}
