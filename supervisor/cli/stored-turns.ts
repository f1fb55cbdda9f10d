// What the commands that look into a state directory have in common: opening it, and saying how a turn stands.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commandExitCode, EXIT } from '../exit-codes.js';
import type { Reader } from '../store/reader.js';
import type { TurnRow } from '../store/rows.js';
import type { OpenFailure } from '../store/types.js';
import { type Io, writeAll } from './io.js';
import { stateHome } from './state-dir.js';

export type ReaderIo = Pick<Io, 'stdout' | 'stderr' | 'env' | 'cwd'>;

export interface ReaderArgs {
  readonly stateDir?: string;
  readonly config?: string;
  readonly json?: boolean;
}

const CODES = {
  in_use: 'state_in_use',
  newer: 'state_newer',
  damaged: 'state_damaged',
  unusable: 'usage',
} as const satisfies Record<OpenFailure['kind'], string>;

/** Opens the directory, lets `look` print, and closes it. The exit code of the command. */
export async function withReader(
  io: ReaderIo,
  args: ReaderArgs,
  look: (reader: Reader) => Promise<number>,
): Promise<number> {
  const place = args.stateDir === undefined ? await configuredPlace(io, args.config) : { dir: args.stateDir };
  if ('problem' in place) return complain(io, place.problem);
  const { openReader } = await import('../store/open.js');
  const opened = openReader(resolve(io.cwd, place.dir));
  if (!opened.ok) {
    await complain(io, opened.failure.message);
    return commandExitCode(CODES[opened.failure.kind]);
  }
  try {
    return await look(opened.reader);
  } finally {
    opened.reader.close();
  }
}

/** Where jobs with this configuration keep their state; a sentence when it does not say. */
async function configuredPlace(
  io: ReaderIo,
  file: string | undefined,
): Promise<{ readonly dir: string } | { readonly problem: string }> {
  const { loadConfig } = await import('../../config/load.js');
  const loaded = await loadConfig({ env: io.env, cwd: io.cwd, file });
  if (loaded.ok && loaded.config.store.path !== null) return { dir: loaded.config.store.path };
  const problem = `name the state directory: --state-dir ${suggestion(io)}`;
  if (loaded.ok) return { problem };
  const { formatProblem } = await import('../../config/problem.js');
  return {
    problem: `${problem}\nthe configuration cannot be asked for it:\n${loaded.problems.map(formatProblem).join('\n')}`,
  };
}

export async function complain(io: ReaderIo, message: string): Promise<number> {
  await writeAll(io.stderr, `turnd: ${message}\n`);
  return EXIT.usage;
}

/** True for a turn that has not ended although nobody is left to end it. */
export function isLeft(reader: Reader, turn: TurnRow): boolean {
  return turn.state !== 'ended' && !reader.isOwned();
}

/** How a turn stands, in words. */
export function standing(reader: Reader, turn: TurnRow): string {
  if (turn.state === 'ended') {
    const why = turn.error_message === null ? '' : `: ${turn.error_message}`;
    return `${turn.status ?? 'ended'}${why}`;
  }
  if (!isLeft(reader, turn)) return turn.state;
  return `interrupted: left ${turn.state} when its supervisor was lost`;
}

export function time(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ');
}

/** The newest job's directory, for somebody who has just run one. */
function suggestion(io: ReaderIo): string {
  try {
    const jobs = join(stateHome(io.env), 'jobs');
    const newest = readdirSync(jobs).sort().at(-1);
    return newest === undefined ? 'DIR' : join(jobs, newest);
  } catch {
    return 'DIR';
  }
}
