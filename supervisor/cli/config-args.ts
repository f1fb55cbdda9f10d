// What the `turnd config` verbs take from the command line, and the loading they share.
import { type Loaded, loadConfig } from '../../config/load.js';
import type { Io } from './io.js';

export interface ConfigArgs {
  readonly config?: string | undefined;
}

export function loadFor(io: Pick<Io, 'env' | 'cwd'>, args: ConfigArgs): Promise<Loaded> {
  return loadConfig({ env: io.env, cwd: io.cwd, file: args.config });
}
