// How the verbs reach a running daemon: by the mark in its state directory, with the token that it names.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import type { Client } from '../../shared/client/client.js';
import { daemonFile } from '../../shared/client/daemon-file.js';
import { CannotConnect, ConnectionLost, RequestFailed } from '../../shared/client/request-failed.js';
import { EXIT } from '../exit-codes.js';
import { type Io, writeAll } from './io.js';
import { stateHome } from './state-dir.js';

export type VerbIo = Pick<Io, 'stdout' | 'stderr' | 'env' | 'cwd'>;

export interface VerbArgs {
  readonly stateDir?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** Connects, lets `work` do its part, and closes. The exit code of the verb; what goes wrong is told in one line. */
export async function withDaemon(
  io: VerbIo,
  args: VerbArgs,
  work: (client: Client) => Promise<number>,
): Promise<number> {
  const place = await stateDirOf(io, args);
  if ('problem' in place) return complain(io, place.problem, EXIT.usage);
  const mark = readMark(place.dir);
  if (mark === null)
    return complain(io, `no daemon runs on ${place.dir}; turnd serve starts one`, EXIT.failed);
  const { connect } = await import('../../shared/client/client.js');
  let client: Client | null = null;
  try {
    client = await connect({ url: mark.url, token: mark.token });
    return await work(client);
  } catch (error) {
    if (error instanceof RequestFailed) return complain(io, error.message, EXIT.failed);
    if (error instanceof CannotConnect || error instanceof ConnectionLost)
      return complain(io, error.message, EXIT.failed);
    throw error;
  } finally {
    client?.close();
  }
}

async function complain(io: VerbIo, message: string, code: number): Promise<number> {
  await writeAll(io.stderr, `turnd: ${message}\n`);
  return code;
}

async function stateDirOf(
  io: VerbIo,
  args: VerbArgs,
): Promise<{ readonly dir: string } | { readonly problem: string }> {
  if (args.stateDir !== undefined) return { dir: resolve(io.cwd, args.stateDir) };
  const { loadConfig } = await import('../../config/load.js');
  const loaded = await loadConfig({ env: io.env, cwd: io.cwd, file: args.config });
  if (loaded.ok) return { dir: loaded.config.store.path ?? stateHome(io.env) };
  const { formatProblem } = await import('../../config/problem.js');
  return { problem: `the configuration cannot be read:\n${loaded.problems.map(formatProblem).join('\n')}` };
}

/** Null when there is no daemon, or none that we may speak to. */
function readMark(dir: string): { readonly url: string; readonly token: string } | null {
  try {
    const mark = v.parse(daemonFile, JSON.parse(readFileSync(join(dir, 'daemon.json'), 'utf8')));
    return { url: mark.url, token: readFileSync(mark.token_file, 'utf8').trim() };
  } catch {
    return null;
  }
}

/** One JSON document, or what a person reads. */
export async function print(io: VerbIo, args: VerbArgs, value: unknown, text: string): Promise<number> {
  await writeAll(io.stdout, args.json === true ? `${JSON.stringify(value)}\n` : text);
  return EXIT.ok;
}
