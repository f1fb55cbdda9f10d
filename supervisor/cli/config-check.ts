// `turnd config check`: every problem of the configuration, one a line, or what was loaded.
import { formatProblem } from '../../config/problem.js';
import { EXIT } from '../exit-codes.js';
import { type ConfigArgs, loadFor } from './config-args.js';
import { type Io, writeAll } from './io.js';

export async function runConfigCheck(
  io: Pick<Io, 'stdout' | 'stderr' | 'env' | 'cwd'>,
  args: ConfigArgs,
): Promise<number> {
  const loaded = await loadFor(io, args);
  if (!loaded.ok) {
    await writeAll(io.stderr, loaded.problems.map((problem) => `${formatProblem(problem)}\n`).join(''));
    return EXIT.usage;
  }
  for (const warning of loaded.warnings) await writeAll(io.stderr, `warning: ${formatProblem(warning)}\n`);
  const sources = [...loaded.sources.values()];
  const count = (source: string): number => sources.filter((one) => one === source).length;
  const from = loaded.file ?? 'no file (looked for ./turnd.yaml and /etc/turnd/turnd.yaml)';
  await writeAll(
    io.stdout,
    `${from}: good; ${count('file')} keys from the file, ${count('env')} from the environment, ` +
      `${count('default')} by default, ${loaded.secrets.values.length} secrets resolved\n`,
  );
  return EXIT.ok;
}
