// The settings of one model over one connection: its request URLs, its caps, and what may be sent to it. Pure.
import type { ModelConfig } from '../../config/models-schema.js';
import type { Config } from '../../config/schema.js';
import type { Dialect, ModelSettings, ReasoningEffort } from '../../shared/ipc/turn-snapshot.js';
import type { Access } from './connection.js';

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

/** What a declared model says of itself. */
export type Declared = Pick<
  ModelConfig,
  'kind' | 'model' | 'reasoning' | 'max_output_tokens' | 'structured_output'
>;

export function settingsOf(config: Config, access: Access, declared: Declared): ModelSettings {
  const { model: limits } = config.limits;
  const { model } = declared;
  const decides = declared.kind === 'decision';
  const urls = access.bases.map((base) => (decides ? base : requestUrl(access.dialect, base, model)));
  const [url = '', ...others] = urls;
  const thinks = declared.kind === 'reasoning';
  const effort = thinks ? declared.reasoning?.effort : undefined;
  return {
    dialect: decides ? 'decision' : access.dialect,
    model,
    url,
    ...(others.length === 0 ? {} : { urls: others }),
    headers: {},
    max_output_tokens: declared.max_output_tokens ?? config.intelligence.max_output_tokens,
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(thinks ? { thinking_tokens: THINKING_ROOM[effort ?? 'medium'] } : {}),
    temperature: thinks || decides ? null : temperatureFor(access.dialect, model),
    structured_output: declared.structured_output ?? access.structuredOutput,
    omit: [],
    connect_ms: limits.connect_ms,
    first_byte_ms: limits.first_byte_ms,
    idle_ms: limits.idle_ms,
    call_ms: limits.call_ms,
    retries: limits.retries,
    retry_after_max_ms: limits.retry_after_ms,
  };
}

/** Tokens: what providers recommend as room for each effort, rounded. */
const THINKING_ROOM: Readonly<Record<ReasoningEffort, number>> = {
  minimal: 2_048,
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};

/** By name; a server that speaks for several providers puts theirs in front. */
const REASONING = /(?:^|[/.])(?:gpt-5|o[134](?:[-.]|$)|chatgpt-5)/;
/** On Bedrock besides: a Claude, an open model that reasons, and a profile, which hides its model. */
const REASONING_ON_BEDROCK = /anthropic|claude|gpt-oss|deepseek\.r|^arn:/i;

/** 0, except where current models refuse one: a Claude by any way, and every model that reasons. */
function temperatureFor(dialect: Dialect, model: string): number | null {
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
