// `turnd config show`: the configuration in force as YAML that could be loaded again, with the source of each value.
// Secrets are shown as the references they came from, never as values.
import type { Group } from '../../config/leaf.js';
import { formatProblem } from '../../config/problem.js';
import { CONFIG } from '../../config/schema.js';
import { EXIT } from '../exit-codes.js';
import { type ConfigArgs, loadFor } from './config-args.js';
import { type Io, writeAll } from './io.js';

export async function runConfigShow(
  io: Pick<Io, 'stdout' | 'stderr' | 'env' | 'cwd'>,
  args: ConfigArgs,
): Promise<number> {
  const loaded = await loadFor(io, args);
  if (!loaded.ok) {
    await writeAll(io.stderr, loaded.problems.map((problem) => `${formatProblem(problem)}\n`).join(''));
    return EXIT.usage;
  }
  const lines = [`# ${loaded.file ?? 'no configuration file'}`];
  showGroup(CONFIG, { ...loaded.config }, loaded.sources, '', lines);
  await writeAll(io.stdout, `${lines.join('\n')}\n`);
  return EXIT.ok;
}

function showGroup(
  group: Group,
  values: Readonly<Record<string, unknown>>,
  sources: ReadonlyMap<string, string>,
  prefix: string,
  lines: string[],
): void {
  const indent = '  '.repeat(prefix === '' ? 0 : prefix.split('.').length);
  for (const [key, entry] of Object.entries(group.keys)) {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    if (entry.is === 'group') {
      lines.push(`${indent}${key}:`);
      showGroup(entry, values[key] as Readonly<Record<string, unknown>>, sources, path, lines);
    } else {
      lines.push(`${indent}${key}: ${entry.show(values[key + entry.unit])}  # ${sources.get(path)}`);
    }
  }
}
