// Which model answers, and how it is reached: what is configured; else a key in the environment; else a server on this
// machine; else the built-in offline model, with a word on how to set a real one.
import { readFileSync } from 'node:fs';
import type { Config } from '../../config/schema.js';
import type { Clock } from '../../shared/clock.js';
import type { AwsKeys, Dialect, ModelSettings, TurnCredentials } from '../../shared/ipc/turn-snapshot.js';
import { awsAccess } from './aws-access.js';
import { LOCAL_SERVER, probeLocalServer } from './probe-local.js';

export interface ResolvedModel {
  readonly settings: ModelSettings;
  readonly credentials: Omit<TurnCredentials, 'mask'>;
  /** One line for the person when something was chosen for them. */
  readonly notice: string | null;
}

export type Resolution =
  | { readonly ok: true; readonly model: ResolvedModel }
  | { readonly ok: false; readonly message: string };

const OPENAI = { url: 'https://api.openai.com', model: 'gpt-5.1' };
const ANTHROPIC = { url: 'https://api.anthropic.com', model: 'claude-opus-5-5' };

const HOW_TO_SET_A_MODEL =
  'set OPENAI_API_KEY or ANTHROPIC_API_KEY, or use --endpoint URL --model NAME, or intelligence.endpoints in turnd.yaml';

interface Choice {
  readonly dialect: Dialect;
  readonly base: string;
  readonly model: string;
  readonly token: string | undefined;
  readonly aws?: AwsKeys;
  readonly notice: string | null;
}

export async function resolveModel(
  config: Config,
  env: NodeJS.ProcessEnv,
  clock: Clock,
): Promise<Resolution> {
  const { intelligence } = config;
  const choice = isConfigured(config) ? configured(config, env) : await discovered(config, env, clock);
  if (typeof choice === 'string') return { ok: false, message: choice };
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(intelligence.headers)) {
    headers[name] = typeof value === 'string' ? value : value.reveal();
  }
  const ca = intelligence.ca_file === null ? undefined : readCa(intelligence.ca_file);
  if (ca?.ok === false) return { ok: false, message: ca.message };
  return {
    ok: true,
    model: {
      settings: settingsOf(config, choice),
      credentials: {
        headers,
        ...(choice.token === undefined ? {} : { token: choice.token }),
        ...(choice.aws === undefined ? {} : { aws: choice.aws }),
        ...(ca === undefined ? {} : { ca: ca.pem }),
      },
      notice: choice.notice,
    },
  };
}

/** Every secret among the credentials, to be masked wherever text leaves. */
export function secretsOf({ token, aws }: ResolvedModel['credentials']): string[] {
  const keys = aws === undefined ? [] : [aws.access_key_id, aws.secret_access_key, aws.session_token];
  return [token, ...keys].filter((value) => value !== undefined);
}

function isConfigured({ intelligence }: Config): boolean {
  const { endpoints, dialect, token } = intelligence;
  return [endpoints, dialect, token].some((value) => value !== null) || signs(intelligence.auth);
}

/** Any of the keys says that requests are to be signed, and only one dialect signs. */
function signs(auth: Config['intelligence']['auth']): boolean {
  return auth.kind === 'aws' || Object.values(auth).some((value) => value !== null);
}

function configured(config: Config, env: NodeJS.ProcessEnv): Choice | string {
  const { intelligence } = config;
  const dialect = intelligence.dialect ?? (signs(intelligence.auth) ? 'bedrock' : 'openai');
  const token = intelligence.token?.reveal();
  if (dialect === 'builtin') return builtin(null);
  if (dialect === 'bedrock') return bedrock(config, env);
  const known = dialect === 'anthropic' ? ANTHROPIC : OPENAI;
  if (intelligence.endpoints !== null && intelligence.model === null)
    return 'intelligence.model: an endpoint needs the name of a model (--model NAME, or intelligence.model)';
  return {
    dialect,
    base: intelligence.endpoints ?? known.url,
    model: intelligence.model ?? known.model,
    token,
    notice: null,
  };
}

function bedrock(config: Config, env: NodeJS.ProcessEnv): Choice | string {
  const { model, token } = config.intelligence;
  if (model === null)
    return 'intelligence.model: Bedrock needs the id of a model or inference profile (--model ID, or intelligence.model)';
  const access = awsAccess(config, env);
  if (typeof access === 'string') return access;
  return {
    dialect: 'bedrock',
    base: access.base,
    model,
    token: token?.reveal(),
    ...(access.keys === null ? {} : { aws: access.keys }),
    notice: null,
  };
}

async function discovered(
  { intelligence }: Config,
  env: NodeJS.ProcessEnv,
  clock: Clock,
): Promise<Choice | string> {
  const openaiKey = env['OPENAI_API_KEY'];
  if (openaiKey)
    return {
      dialect: 'openai',
      base: env['OPENAI_BASE_URL'] || OPENAI.url,
      model: intelligence.model ?? OPENAI.model,
      token: openaiKey,
      notice: null,
    };
  const anthropicKey = env['ANTHROPIC_API_KEY'];
  if (anthropicKey)
    return {
      dialect: 'anthropic',
      base: env['ANTHROPIC_BASE_URL'] || ANTHROPIC.url,
      model: intelligence.model ?? ANTHROPIC.model,
      token: anthropicKey,
      notice: null,
    };
  const local = await probeLocalServer(clock);
  if (local !== null)
    return {
      dialect: 'openai',
      base: LOCAL_SERVER,
      model: intelligence.model ?? local,
      token: undefined,
      notice: `using the model server at ${LOCAL_SERVER}, model ${intelligence.model ?? local}`,
    };
  if (intelligence.model !== null)
    return `intelligence.model: there is no server for model ${intelligence.model}; use --endpoint URL, or intelligence.endpoints in turnd.yaml, or set OPENAI_API_KEY or ANTHROPIC_API_KEY`;
  return builtin(
    `no model is configured: using the built-in offline model, which only follows simple commands; ${HOW_TO_SET_A_MODEL}`,
  );
}

function builtin(notice: string | null): Choice {
  return { dialect: 'builtin', base: '', model: 'builtin', token: undefined, notice };
}

const PATHS: Readonly<Record<Dialect, string>> = {
  openai: 'chat/completions',
  openai_responses: 'responses',
  anthropic: 'messages',
  bedrock: 'converse-stream',
  builtin: '',
};

/** An endpoint may be the server, its `/v1`, or the whole request URL; on Bedrock the model is a part of the path. */
export function requestUrl(dialect: Dialect, base: string, model = ''): string {
  const path = PATHS[dialect];
  if (path === '') return '';
  const trimmed = base.replace(/\/+$/, '');
  if (dialect === 'bedrock') {
    const server = trimmed.replace(/\/model\/[^/]+\/converse(?:-stream)?$/, '');
    return `${server}/model/${encodeURIComponent(model)}/${path}`;
  }
  if (trimmed.endsWith(`/${path}`)) return trimmed;
  return /\/v\d+[a-z]*$/.test(trimmed) ? `${trimmed}/${path}` : `${trimmed}/v1/${path}`;
}

function settingsOf(config: Config, choice: Choice): ModelSettings {
  const { model: limits } = config.limits;
  return {
    dialect: choice.dialect,
    model: choice.model,
    url: requestUrl(choice.dialect, choice.base, choice.model),
    headers: {},
    max_output_tokens: config.intelligence.max_output_tokens,
    temperature: temperatureFor(choice),
    structured_output: config.intelligence.structured_output,
    omit: [],
    connect_ms: limits.connect_ms,
    first_byte_ms: limits.first_byte_ms,
    idle_ms: limits.idle_ms,
    call_ms: limits.call_ms,
    retries: limits.retries,
    retry_after_max_ms: limits.retry_after_ms,
  };
}

/** By name; a server that speaks for several providers puts theirs in front. */
const REASONING = /(?:^|[/.])(?:gpt-5|o[134](?:[-.]|$)|chatgpt-5)/;
/** On Bedrock besides: a Claude, an open model that reasons, and a profile, which hides its model. */
const REASONING_ON_BEDROCK = /anthropic|claude|gpt-oss|deepseek\.r|^arn:/i;

/** 0, except where current models refuse one: a Claude by any way, and every model that reasons. */
function temperatureFor({ dialect, model }: Choice): number | null {
  switch (dialect) {
    case 'openai':
    case 'openai_responses':
      return REASONING.test(model) ? null : 0;
    case 'bedrock':
      return REASONING.test(model) || REASONING_ON_BEDROCK.test(model) ? null : 0;
    case 'anthropic':
    case 'builtin':
      return null;
  }
}

function readCa(path: string): { ok: true; pem: string } | { ok: false; message: string } {
  try {
    return { ok: true, pem: readFileSync(path, 'utf8') };
  } catch (error) {
    return {
      ok: false,
      message: `intelligence.ca_file: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
