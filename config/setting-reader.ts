// Reads the winning setting of every key into the frozen configuration. Values that lost to a stronger source are still
// checked for their shape: a broken file is broken even where a variable hides it.
import { dirname } from 'node:path';
import * as v from 'valibot';
import { DEFAULTS } from './defaults.js';
import type { Layer, Setting, SourceName } from './layers.js';
import type { Group, Leaf, ReadContext } from './leaf.js';
import type { Place, Problem } from './problem.js';
import { CONFIG, type Config } from './schema.js';

const NOWHERE: Place = { file: 'default' };

type Parsed = Readonly<Record<string, unknown>>;

/** Lists and records hold at most records in turn; a Secret has no fields to write. */
function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}

interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export class SettingReader {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly secrets: string[] = [];
  readonly sources = new Map<string, SourceName>();
  readonly #places = new Map<string, Place>();
  readonly #layers: readonly Layer[];
  readonly #around: Surroundings;
  readonly #file: string | null;

  /** `layers` from weakest to strongest. */
  constructor(layers: readonly Layer[], around: Surroundings, file: string | null) {
    this.#layers = layers;
    this.#around = around;
    this.#file = file;
  }

  /** Meaningful only while there are no problems: a value that cannot be read is left out. */
  read(): Config {
    // The one place where the tree of keys becomes the type that was derived from it.
    return this.#group(CONFIG, DEFAULTS, '') as unknown as Config;
  }

  readonly placeOf = (path: string): Place => this.#places.get(path) ?? NOWHERE;

  #group(group: Group, defaults: Parsed, prefix: string): Parsed {
    const result: Record<string, unknown> = {};
    for (const [key, entry] of Object.entries(group.keys)) {
      const path = prefix === '' ? key : `${prefix}.${key}`;
      if (entry.is === 'group') {
        result[key] = this.#group(entry, defaults[key] as Parsed, path);
      } else {
        const name = key + entry.unit;
        result[name] = this.#leaf(entry, defaults[name], path);
      }
    }
    return Object.freeze(result);
  }

  #leaf(leaf: Leaf<unknown, string>, fallback: unknown, path: string): unknown {
    let winner: Setting | undefined;
    for (const layer of this.#layers) {
      const setting = layer.settings.get(path);
      if (setting === undefined) continue;
      if (winner !== undefined) this.#checkHidden(leaf, winner, path);
      winner = setting;
    }
    this.sources.set(path, winner?.source ?? 'default');
    if (winner === undefined) return freeze(fallback);
    this.#places.set(path, winner.place);
    for (const [key, place] of winner.below ?? []) this.#places.set(`${path}.${key}`, place);
    if (winner.raw === null && leaf.nullable) return null;
    if (winner.raw === null || winner.raw === undefined) {
      const usual = leaf.show(fallback);
      this.#tell(winner, path, { message: `has no value: write one, or remove the key (default ${usual})` });
      return undefined;
    }
    const read = leaf.read(winner.raw, this.#context(winner, path));
    if (read.ok) return freeze(read.value);
    for (const complaint of read.complaints) this.#tell(winner, path, complaint);
    return undefined;
  }

  #checkHidden(leaf: Leaf<unknown, string>, setting: Setting, path: string): void {
    if (setting.raw === null && leaf.nullable) return;
    const checked = v.safeParse(leaf.schema, setting.raw);
    if (!checked.success) this.#tell(setting, path, { message: checked.issues[0].message });
  }

  #context(setting: Setting, path: string): ReadContext {
    const fromFile = setting.source === 'file' && this.#file !== null;
    return {
      env: this.#around.env,
      folder: fromFile ? dirname(this.#file) : this.#around.cwd,
      onSecret: (value) => this.secrets.push(value),
      onWarning: (message) => this.warnings.push({ ...setting.place, path, message }),
    };
  }

  #tell(
    setting: Setting,
    path: string,
    complaint: { readonly message: string; readonly suggestion?: string | undefined; readonly key?: string },
  ): void {
    const { message, suggestion, key } = complaint;
    const place = placeBelow(setting, key);
    const at = key === undefined ? path : `${path}.${key}`;
    this.problems.push({ ...place, path: at, message, ...(suggestion === undefined ? {} : { suggestion }) });
  }
}

/** The place of a key below a leaf; of a key that is missing, that of the entry in which it should be. */
function placeBelow({ place, below }: Setting, key: string | undefined): Place {
  const parts = key?.split('.') ?? [];
  for (let count = parts.length; count > 0; count -= 1) {
    const found = below?.get(parts.slice(0, count).join('.'));
    if (found !== undefined) return found;
  }
  return place;
}
