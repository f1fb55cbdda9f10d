// The three places a value may come from besides the defaults, each as a flat list of settings by dotted path:
// the file, the environment, the command line. Finds unknown keys; reads no values.
import assert from 'node:assert';
import type { Group } from './leaf.js';
import { nearest } from './nearest.js';
import type { Place, Problem } from './problem.js';
import { CONFIG, environmentName, type LeafAt, leavesOf } from './schema.js';
import { type Position, plainValue, type SourceNode } from './source-tree.js';

export type SourceName = 'default' | 'file' | 'env' | 'flag';

export interface Setting {
  readonly source: SourceName;
  readonly place: Place;
  readonly raw: unknown;
  /** Places of the keys and entries below the leaf (`0.tokens`), so that a complaint about one names its line. */
  readonly below?: ReadonlyMap<string, Place>;
}

export interface Layer {
  readonly settings: ReadonlyMap<string, Setting>;
  readonly problems: readonly Problem[];
}

const LEAVES: readonly LeafAt[] = leavesOf(CONFIG);
const BY_PATH = new Map(LEAVES.map(({ path, leaf }) => [path, leaf]));

/** Overrides by dotted path, as text: `{'limits.run.steps': '5'}`. */
export type Flags = Readonly<Record<string, string | undefined>>;

export function flagLayer(flags: Flags): Layer {
  const settings = new Map<string, Setting>();
  for (const [path, text] of Object.entries(flags)) {
    if (text === undefined) continue;
    const leaf = BY_PATH.get(path);
    assert(leaf !== undefined, `no configuration key ${path}`);
    settings.set(path, { source: 'flag', place: { file: 'flag' }, raw: leaf.fromText(text) });
  }
  return { settings, problems: [] };
}

/** Empty variables count as unset, because many tools cannot unset one. */
export function environmentLayer(env: NodeJS.ProcessEnv): Layer {
  const settings = new Map<string, Setting>();
  const problems: Problem[] = [];
  const ours = Object.keys(env).filter((name) => name.startsWith('TURND_'));
  if (ours.length === 0) return { settings, problems };
  const leaves = new Map(LEAVES.map((at) => [environmentName(at.path), at]));
  for (const name of ours) {
    const text = env[name];
    if (text === undefined || text === '') continue;
    const known = leaves.get(name);
    const place = { file: `$${name}` };
    if (known !== undefined) {
      settings.set(known.path, { source: 'env', place, raw: known.leaf.fromText(text) });
      continue;
    }
    // Orchestrators set variables of their own (`TURND_PORT`), so only a near miss of a key is a mistake.
    const suggestion = nearest(name, leaves.keys(), 2);
    if (suggestion !== undefined)
      problems.push({ ...place, path: '', message: 'unknown setting', suggestion });
  }
  return { settings, problems };
}

export function fileLayer(root: SourceNode | null, file: string): Layer {
  const settings = new Map<string, Setting>();
  const problems: Problem[] = [];
  const known = LEAVES.map(({ path }) => path);
  const placeOf = (at: Position): Place => ({ file, line: at.line, column: at.column });

  const visit = (node: SourceNode, within: Group, prefix: string): void => {
    if (node.kind !== 'map') {
      // A section whose keys are all commented out is written as a key without a value.
      if (node.value === null) return;
      problems.push({ ...placeOf(node), path: prefix, message: 'expected a mapping of keys' });
      return;
    }
    const seen = new Set<string>();
    for (const entry of node.entries) {
      const path = prefix === '' ? entry.key : `${prefix}.${entry.key}`;
      const rule = Object.hasOwn(within.keys, entry.key) ? within.keys[entry.key] : undefined;
      if (seen.has(entry.key)) problems.push({ ...placeOf(entry), path, message: 'stands twice' });
      seen.add(entry.key);
      if (rule === undefined)
        problems.push({ ...placeOf(entry), path, ...unknownKey(entry.key, prefix, within, known) });
      else if (rule.is === 'group') visit(entry.node, rule, path);
      else {
        settings.set(path, settingOf(entry.node, placeOf(entry), placeOf));
        problems.push(...repeats(entry.node, path, placeOf));
      }
    }
  };
  if (root !== null) visit(root, CONFIG, '');
  return { settings, problems };
}

function settingOf(node: SourceNode, place: Place, placeOf: (at: Position) => Place): Setting {
  const raw = plainValue(node);
  const below = new Map(placesBelow(node, '', DEPTH_MAX).map(([key, at]) => [key, placeOf(at)]));
  return { source: 'file', place, raw, below };
}

/** No leaf has fields further down; what nests deeper is refused as a whole. */
const DEPTH_MAX = 3;

function placesBelow(node: SourceNode, prefix: string, depth: number): [string, Position][] {
  if (node.kind === 'value' || depth === 0) return [];
  const inner =
    node.kind === 'map'
      ? node.entries.map((entry) => [entry.key, entry, entry.node] as const)
      : node.items.map((item, index) => [String(index), item, item] as const);
  return inner.flatMap(([key, at, value]) => [
    [`${prefix}${key}`, at],
    ...placesBelow(value, `${prefix}${key}.`, depth - 1),
  ]);
}

/** Keys of a record that stand twice: the later one would win without a word. */
function repeats(
  node: SourceNode,
  path: string,
  placeOf: (at: Position) => Place,
  depth = DEPTH_MAX,
): Problem[] {
  if (node.kind === 'value' || depth === 0) return [];
  if (node.kind === 'list')
    return node.items.flatMap((item, index) => repeats(item, `${path}.${index}`, placeOf, depth - 1));
  const seen = new Set<string>();
  return node.entries.flatMap((entry) => {
    const at = `${path}.${entry.key}`;
    const again = seen.has(entry.key);
    seen.add(entry.key);
    const below = repeats(entry.node, at, placeOf, depth - 1);
    return again ? [{ ...placeOf(entry), path: at, message: 'stands twice' }, ...below] : below;
  });
}

/** Looks beside the key first, then for the same last word anywhere: `limits.steps` means `limits.run.steps`. */
function unknownKey(
  key: string,
  prefix: string,
  within: Group,
  known: readonly string[],
): Pick<Problem, 'message' | 'suggestion'> {
  const beside = nearest(key, Object.keys(within.keys));
  const elsewhere = known.find((path) => path.split('.').at(-1) === key);
  const suggestion = beside === undefined ? elsewhere : prefix === '' ? beside : `${prefix}.${beside}`;
  return suggestion === undefined ? { message: 'unknown key' } : { message: 'unknown key', suggestion };
}
