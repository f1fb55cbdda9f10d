// Reads what a provider says went wrong and decides what it means. The provider's words are only looked at: they may
// echo keys or history, so every sentence that leaves here is our own.
import type { ErrorCode } from '../../shared/errors.js';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { Refusal } from './dialect.js';
import { isObject, textOf } from './wire-text.js';

/** Why one attempt failed, and what may be done about it. */
export interface CallFailure {
  readonly code: ErrorCode;
  /** Our own sentence for people. */
  readonly message: string;
  /** A few words for the notice of a retry. */
  readonly reason: string;
  /** Whether the same request may succeed later. */
  readonly retry: boolean;
  /** What the provider asked us to wait; null when it did not say. */
  readonly retryAfterMs: number | null;
  /** The option that the model refuses; leaving it out may help at once. */
  readonly option: string | null;
}

/** What a failure is told with: where, and under which request id. */
export interface Scene {
  readonly host: string;
  readonly model: string;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  /** Options that the refused request held. */
  readonly options: readonly string[];
}

/** Statuses that error events inside a stream stand for. */
const EVENT_STATUS: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  billing_error: 402,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  invalid_request_error: 400,
  request_too_large: 413,
  timeout_error: 504,
  context_length_exceeded: 400,
  invalid_prompt: 400,
  throttlingException: 429,
  validationException: 400,
  accessDeniedException: 403,
  resourceNotFoundException: 404,
  serviceQuotaExceededException: 429,
  modelTimeoutException: 408,
  serviceUnavailableException: 503,
};

const QUOTA =
  /insufficient_quota|billing|quota.{0,20}(?:exhaust|exceed)|(?:exhaust|exceed).{0,40}quota|out of credits?|credit balance/;
const CONTEXT =
  /context_length_exceeded|context.{0,12}(?:length|window|size|limit)|prompt is too long|input is too long|too many (?:input |prompt )?tokens|reduce the length|maximum.{0,20}prompt/;
const UNSUPPORTED =
  /unsupported|not (?:be )?support|unrecognized|unknown|unexpected|extra (?:inputs?|fields?)|not permitted|not allowed|deprecated|not accept|only the default|no longer|did not allow|must be (?:explicitly )?set|invalid (?:parameter|argument|field|schema)|cannot be (?:used|set|specified)|missing/;
const NO_TOOLS = /does(?: not|n't) support (?:tools|tool use|function)/;

/** Other words under which providers speak of an option. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  response_format: [
    'response_format',
    'output_config',
    'output_format',
    'outputconfig',
    'textformat',
    'text\\.format',
    'json_schema',
    'structured outputs?',
  ],
  include: ['include', 'encrypted content'],
  reasoning: ['reasoning\\.effort', 'reasoning_effort'],
  reasoning_effort: ['reasoning_effort', 'reasoning effort'],
  effort: ['output_config\\.effort', 'effort'],
  thinking: ['thinking', 'budget_tokens'],
  cache_point: ['cache_?points?', 'prompt caching'],
};

/** The parameter that a refusal names, where it is another word than ours. */
const PARAMS: Readonly<Record<string, string>> = { response_format: 'text.format' };

/** Our phrase for an error type; anything else is not repeated. */
const KNOWN_TYPES = new Set([
  'invalid_request_error',
  'invalid_api_key',
  'model_not_found',
  'not_found_error',
  'authentication_error',
  'permission_error',
  'insufficient_quota',
  'overloaded_error',
  'api_error',
  'server_error',
  'rate_limit_error',
  'rate_limit_exceeded',
]);

/** Reads an error body or an error event of any dialect; `kind` is what the head of the response called it. */
export function refusalOf(status: number, body: JsonValue, kind = ''): Refusal {
  const outer: JsonObject = isObject(body) ? body : {};
  const inner: JsonObject = isObject(outer.error) ? outer.error : outer;
  const number = typeof inner.code === 'number' ? inner.code : Number.NaN;
  const type = textOf(inner.type) || kind;
  const code = textOf(inner.code);
  const message =
    textOf(inner.message) ||
    textOf(outer.error) ||
    textOf(outer.message) ||
    textOf(outer.Message) ||
    textOf(outer.detail);
  const meant = number >= 400 && number < 600 ? number : (EVENT_STATUS[code] ?? EVENT_STATUS[type] ?? 500);
  return { status: status === 200 ? meant : status, type, code, param: textOf(inner.param), message };
}

function said(refusal: Refusal): string {
  return `${refusal.type} ${refusal.code} ${refusal.message}`.toLowerCase();
}

/** The option among those sent that the refusal speaks of as unsupported. */
function refusedOption(refusal: Refusal, words: string, options: readonly string[]): string | null {
  const byParam = options.find((option) =>
    [option, PARAMS[option] ?? option].some(
      (name) => refusal.param === name || refusal.param.startsWith(`${name}.`),
    ),
  );
  if (!UNSUPPORTED.test(words)) return null;
  if (byParam !== undefined) return byParam;
  const named = options
    .map((option) => {
      const names = (ALIASES[option] ?? [option]).join('|');
      return { option, at: words.search(new RegExp(`(?<![a-z0-9_])(?:${names})(?![a-z0-9_])`)) };
    })
    .filter(({ at }) => at >= 0)
    .sort((left, right) => left.at - right.at);
  return named[0]?.option ?? null;
}

function trailer(refusal: Refusal, scene: Scene): string {
  const known = [refusal.code, refusal.type].find((word) => KNOWN_TYPES.has(word));
  const notes = [known, scene.requestId === null ? undefined : `request id ${scene.requestId}`];
  const shown = notes.filter((note) => note !== undefined);
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`;
}

const RETRIED = new Set([408, 409, 424, 425, 429]);

function isPassing(status: number): boolean {
  return RETRIED.has(status) || (status >= 500 && status !== 501 && status !== 505);
}

interface Meaning {
  readonly code: ErrorCode;
  readonly sentence: string;
  readonly reason?: string;
  readonly retry?: boolean;
  readonly option?: string;
}

function withoutOption(option: string, { status }: Refusal, { host }: Scene): Meaning {
  return { code: 'model_rejected', sentence: `${host} refuses the option ${option} (${status})`, option };
}

function meaningOf(refusal: Refusal, scene: Scene): Meaning {
  const { host, model } = scene;
  const { status } = refusal;
  const words = said(refusal);
  if (status === 402 || ((status === 429 || status === 403 || status === 400) && QUOTA.test(words)))
    return {
      code: 'model_quota_exhausted',
      sentence: `the account at ${host} has no credit or quota left (${status}): top it up or use another model`,
    };
  if (refusal.type === 'answer_too_large')
    return { code: 'model_unreachable', sentence: `${host} sent an answer beyond every bound` };
  if (status === 429)
    return {
      code: 'model_rate_limited',
      sentence: `${host} limits the rate of requests (429)`,
      reason: 'rate limited',
      retry: true,
    };
  if (isPassing(status))
    return {
      code: 'model_unreachable',
      sentence: `${host} cannot serve the request now (${status})`,
      reason: status === 529 || refusal.type === 'overloaded_error' ? 'overloaded' : `server error ${status}`,
      retry: true,
    };
  const option =
    status === 400 || status === 403 || status === 422 ? refusedOption(refusal, words, scene.options) : null;
  // One provider forbids what it means to refuse.
  if (option !== null && status === 403) return withoutOption(option, refusal, scene);
  if (status === 401 || status === 403)
    return {
      code: 'model_rejected',
      sentence: `${host} rejected the credentials (${status}): check the key and what it may use`,
    };
  if (status === 413 || ((status === 400 || status === 422) && CONTEXT.test(words)))
    return {
      code: 'context_exhausted',
      sentence: `the conversation is longer than ${model} can take (${status})`,
    };
  if (status === 404)
    return {
      code: 'model_rejected',
      sentence: `${host} knows no such path, or no model ${model} (404): check the URL and the model name`,
    };
  if (status >= 300 && status < 400)
    return {
      code: 'model_rejected',
      sentence: `${host} redirects elsewhere (${status}), and keys do not follow redirects: configure the final URL`,
    };
  if (NO_TOOLS.test(words))
    return { code: 'model_rejected', sentence: `${model} at ${host} cannot use tools (${status})` };
  if (option !== null) return withoutOption(option, refusal, scene);
  return { code: 'model_rejected', sentence: `${host} refused the request (${status})` };
}

/** What a refusal means; `model` and `host` come from the settings, everything else of the message is ours. */
export function failureOf(refusal: Refusal, scene: Scene): CallFailure {
  const meaning = meaningOf(refusal, scene);
  return {
    code: meaning.code,
    message: `${meaning.sentence}${trailer(refusal, scene)}`,
    reason: meaning.reason ?? 'refused',
    retry: meaning.retry ?? false,
    retryAfterMs: scene.retryAfterMs,
    option: meaning.option ?? null,
  };
}
