// Loads the configuration: defaults < file < environment < flags. Gives one frozen object, or every problem at once.
// Changes nothing and starts nothing, so it can be run to check a file.
import { contradictions } from './contradictions.js';
import { findFile } from './find-file.js';
import { environmentLayer, type Flags, fileLayer, flagLayer, type Layer, type SourceName } from './layers.js';
import type { Problem } from './problem.js';
import type { Config } from './schema.js';
import { ResolvedSecrets } from './secrets.js';
import { SettingReader } from './setting-reader.js';

export interface LoadInput {
  /** `--config`; it must then exist. */
  readonly file?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths of flags and environment start here, and `./turnd.yaml` is looked for. */
  readonly cwd: string;
  readonly flags?: Flags;
}

export type Loaded =
  | {
      readonly ok: true;
      readonly config: Config;
      /** Absolute path of the file that was read; null when there was none. */
      readonly file: string | null;
      readonly secrets: ResolvedSecrets;
      /** Where each value came from, by dotted path. */
      readonly sources: ReadonlyMap<string, SourceName>;
      /** What should be put right but stops nothing. */
      readonly warnings: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export async function loadConfig(input: LoadInput): Promise<Loaded> {
  const found = findFile(input.file, input.env, input.cwd);
  const file = found.ok ? found.file : null;
  const layers: Layer[] = [];
  const problems: Problem[] = found.ok ? [] : [found.problem];
  if (found.ok && found.file !== null) layers.push(await fromFile(found.text, found.file));
  layers.push(environmentLayer(input.env), flagLayer(input.flags ?? {}));
  problems.push(...layers.flatMap((layer) => layer.problems));

  const reader = new SettingReader(layers, input, file);
  const config = reader.read();
  problems.push(...reader.problems);
  if (reader.problems.length === 0) problems.push(...contradictions(config, reader.placeOf));
  if (problems.length > 0) return { ok: false, problems: inOrder(problems) };
  return {
    ok: true,
    config,
    file,
    secrets: new ResolvedSecrets(reader.secrets),
    sources: reader.sources,
    warnings: reader.warnings,
  };
}

async function fromFile(text: string, file: string): Promise<Layer> {
  const { readYaml } = await import('./yaml-source.js');
  const source = readYaml(text, file);
  const layer = fileLayer(source.root, file);
  return { settings: layer.settings, problems: [...source.problems, ...layer.problems] };
}

/** More would not be read: the file is then another kind of file. */
const PROBLEMS_MAX = 100;

/** By line where there are lines; what has none comes last, in the order in which it was found. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const key = (problem: Problem): number => problem.line ?? Number.MAX_SAFE_INTEGER;
  const sorted = [...problems].sort((left, right) => key(left) - key(right));
  const rest = sorted.length - PROBLEMS_MAX;
  if (rest <= 0) return sorted;
  const file = sorted[0]?.file ?? '';
  return [...sorted.slice(0, PROBLEMS_MAX), { file, path: '', message: `and ${rest} more problems` }];
}
