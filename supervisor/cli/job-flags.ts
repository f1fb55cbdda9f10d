// Flags of a job, as text from the command line, and the configuration paths that they override.
import type { Problem } from '../../config/problem.js';

export interface JobFlags {
  readonly prompt: string;
  readonly config?: string;
  readonly stateDir?: string;
  readonly cwd?: string;
  readonly model?: string;
  readonly endpoint?: string;
  readonly dialect?: string;
  readonly thread: string;
  readonly permissionMode?: string;
  readonly onAsk: 'deny' | 'allow' | 'wait';
  readonly steps?: string;
  readonly tokens?: string;
  readonly deadline?: string;
  readonly output: 'text' | 'json' | 'stream-json';
}

const PATHS: readonly (readonly [keyof JobFlags, string])[] = [
  ['model', 'intelligence.roles.turn'],
  ['endpoint', 'intelligence.endpoints'],
  ['dialect', 'intelligence.dialect'],
  ['stateDir', 'store.path'],
  ['permissionMode', 'security.default_mode'],
  ['steps', 'limits.run.steps'],
  ['tokens', 'limits.run.tokens'],
  ['deadline', 'limits.run.deadline'],
];

/** Flags of a job or, of those that a daemon has too, of a daemon. */
export function configOverrides(flags: Partial<JobFlags>): Record<string, string> {
  const overrides: Record<string, string> = {};
  for (const [flag, path] of PATHS) {
    const value = flags[flag];
    if (value !== undefined) overrides[path] = value;
  }
  return overrides;
}

/** A problem with a value from the command line names the flag as it was typed. */
export function namingFlag(problem: Problem): Problem {
  const flag = PATHS.find(([, path]) => path === problem.path)?.[0];
  if (problem.file !== 'flag' || flag === undefined) return problem;
  return { ...problem, file: `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}` };
}
