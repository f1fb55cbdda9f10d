// Walks a tree for searching: names in order, folders where they stand, links never followed, so that it always ends.
// Bounded in entries and time; says when and why it was cut.
import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Clock } from '../../../shared/clock.js';
import { type EntryType, readFolder } from '../files/read-folder.js';
import { type IgnoreRules, isIgnored, withRulesOf } from './ignore-rules.js';

export interface WalkOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeMs: number;
  readonly entriesMax: number;
  readonly includeIgnored: boolean;
}

export interface WalkEntry {
  /** Below the root that is walked. */
  readonly names: readonly string[];
  readonly type: EntryType;
}

/** Filled while the walk goes on. */
export interface WalkReport {
  entries: number;
  ignored: number;
  unreadable: number;
  /** Why the walk ended early; null while it has not. */
  cut: 'time' | 'entries' | 'interrupted' | null;
}

const NEVER = '.git';
const PASSED_OVER = new Set(['node_modules', '.hg', '.svn', '__pycache__']);

export function newReport(): WalkReport {
  return { entries: 0, ignored: 0, unreadable: 0, cut: null };
}

interface Level {
  readonly names: readonly string[];
  readonly entries: Iterator<{ readonly name: string; readonly type: EntryType }>;
  readonly rules: IgnoreRules | null;
}

/** Entries below `root`, an absolute path without links. The root itself must be readable. */
export async function* walkFiles(
  root: string,
  options: WalkOptions,
  report: WalkReport,
): AsyncGenerator<WalkEntry> {
  const endsAt = options.clock.monotonic() + options.timeMs;
  const around = options.includeIgnored ? null : await rulesAround(root);
  const prefix = around?.prefix ?? [];
  const stack = [await enter(root, [], around?.rules ?? null, options, prefix.length)];
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const next = level.entries.next();
    if (next.done === true) {
      stack.pop();
      continue;
    }
    report.entries += 1;
    report.cut = cutOf(options, report, endsAt);
    if (report.cut !== null) return;
    const { name, type } = next.value;
    const names = [...level.names, name];
    const isFolder = type === 'directory';
    if (name === NEVER) continue;
    const passedOver = isFolder && PASSED_OVER.has(name);
    if (!options.includeIgnored && (passedOver || isIgnored(level.rules, [...prefix, ...names], isFolder))) {
      report.ignored += 1;
      continue;
    }
    yield { names, type };
    if (!isFolder) continue;
    try {
      stack.push(
        await enter(join(root, ...names), names, level.rules, options, prefix.length + names.length),
      );
    } catch {
      report.unreadable += 1;
    }
  }
}

function cutOf(options: WalkOptions, report: WalkReport, endsAt: number): WalkReport['cut'] {
  if (options.signal.aborted) return 'interrupted';
  if (report.entries > options.entriesMax) return 'entries';
  return report.entries % 64 === 0 && options.clock.monotonic() > endsAt ? 'time' : null;
}

async function enter(
  path: string,
  names: readonly string[],
  outer: IgnoreRules | null,
  options: WalkOptions,
  depth: number,
): Promise<Level> {
  const { entries } = await readFolder(path, options.signal);
  const own = !options.includeIgnored && entries.some((entry) => entry.name === '.gitignore');
  const rules = own ? await withRulesOf(outer, path, depth) : outer;
  return { names, entries: entries.values(), rules };
}

interface Around {
  readonly rules: IgnoreRules | null;
  /** Names from the repository's folder to the root of the walk. */
  readonly prefix: readonly string[];
}

/** What the folders above say, up to the one that is a repository; nothing when there is none. */
async function rulesAround(root: string): Promise<Around> {
  const above: string[] = [];
  for (let folder = root; ; folder = dirname(folder)) {
    if (basename(folder) === NEVER) break;
    if ((await stat(join(folder, NEVER)).catch(() => null)) !== null) {
      let rules = await withRulesOf(null, join(folder, NEVER), 0, 'info/exclude');
      for (const [depth, path] of [folder, ...above].entries()) {
        if (path !== root) rules = await withRulesOf(rules, path, depth);
      }
      return {
        rules,
        prefix: relative(folder, root)
          .split('/')
          .filter((name) => name !== ''),
      };
    }
    if (dirname(folder) === folder) break;
    above.unshift(folder);
  }
  return { rules: null, prefix: [] };
}
