// What is wrong with a configuration, and how it is told: one line a problem, never with a credential in it.

export interface Problem {
  /** The file, or `$NAME` for an environment variable, or `flag` for the command line. */
  readonly file: string;
  /** 1-based; absent where the source has no lines. */
  readonly line?: number;
  readonly column?: number;
  /** Dotted key, as in `limits.run.steps`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** The nearest thing that would be right. */
  readonly suggestion?: string;
}

/** Where a value stands. */
export type Place = Pick<Problem, 'file' | 'line' | 'column'>;

/** `turnd.yaml:3: limits.run.stesp: unknown key (did you mean limits.run.steps?)` */
export function formatProblem(problem: Problem): string {
  const where = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`;
  const path = problem.path === '' ? '' : `${problem.path}: `;
  const hint = problem.suggestion === undefined ? '' : ` (did you mean ${problem.suggestion}?)`;
  return `${where}: ${path}${problem.message}${hint}`;
}
