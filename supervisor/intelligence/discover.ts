// A model server that nobody configured: a key in the environment, else a server on this machine, else the built-in
// offline model, with a word on how to set a real one.
import type { Clock } from '../../shared/clock.js';
import type { Connection } from './configured-connection.js';
import { type Access, accessOver } from './connection.js';
import { LOCAL_SERVER, probeLocalServer } from './probe-local.js';

export const USUAL_MODELS = { openai: 'gpt-5.1', anthropic: 'claude-opus-5-5' };

const HOW_TO_SET_A_MODEL =
  'set OPENAI_API_KEY or ANTHROPIC_API_KEY, or use --endpoint URL --model NAME, or intelligence.endpoints in turnd.yaml';

export interface Discovered {
  readonly access: Access;
  /** The model where none is named. */
  readonly model: string;
  readonly notice: string | null;
}

/** `named`: the model that is asked for, if one is. A sentence where there is no server for it. */
export async function discover(
  connection: Connection,
  named: string | null,
  env: NodeJS.ProcessEnv,
  clock: Clock,
): Promise<Discovered | string> {
  const found = fromEnvironment(env) ?? (await onThisMachine(named, clock)) ?? withoutServer(named);
  if (typeof found === 'string') return found;
  const { dialect, base, token, model, notice } = found;
  const credentials = token === undefined ? {} : { token };
  const access = accessOver(connection, { dialect, bases: [base], credentials });
  return typeof access === 'string' ? access : { access, model, notice };
}

interface Found {
  readonly dialect: 'openai' | 'anthropic' | 'builtin';
  readonly base: string;
  readonly token?: string;
  readonly model: string;
  readonly notice: string | null;
}

function fromEnvironment(env: NodeJS.ProcessEnv): Found | null {
  for (const [dialect, prefix, server] of [
    ['openai', 'OPENAI', 'https://api.openai.com'],
    ['anthropic', 'ANTHROPIC', 'https://api.anthropic.com'],
  ] as const) {
    const token = env[`${prefix}_API_KEY`];
    const base = env[`${prefix}_BASE_URL`] || server;
    if (token) return { dialect, base, token, model: USUAL_MODELS[dialect], notice: null };
  }
  return null;
}

async function onThisMachine(named: string | null, clock: Clock): Promise<Found | null> {
  const local = await probeLocalServer(clock);
  if (local === null) return null;
  const notice = `using the model server at ${LOCAL_SERVER}, model ${named ?? local}`;
  return { dialect: 'openai', base: LOCAL_SERVER, model: local, notice };
}

function withoutServer(named: string | null): Found | string {
  if (named !== null)
    return `intelligence.model: there is no server for model ${named}; use --endpoint URL, or intelligence.endpoints in turnd.yaml, or set OPENAI_API_KEY or ANTHROPIC_API_KEY`;
  const notice = `no model is configured: using the built-in offline model, which only follows simple commands; ${HOW_TO_SET_A_MODEL}`;
  return { dialect: 'builtin', base: '', model: 'builtin', notice };
}
