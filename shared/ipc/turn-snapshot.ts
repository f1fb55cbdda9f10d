// The frozen input of a worker. Built once by the supervisor, never changed; credentials ride beside it, never in it.
import * as v from 'valibot';
import { jsonObject } from '../json.js';
import { plannedTool } from '../tools/tool-plan.js';
import { message } from '../transcript/message.js';

const positiveMs = v.pipe(v.number(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const DIALECTS = ['openai', 'openai_responses', 'anthropic', 'bedrock', 'builtin'] as const;
export type Dialect = (typeof DIALECTS)[number];
/** Not a language for conversations: one request holds a state and questions about it, its answer one choice for each. */
export const DECISION = 'decision';

export const STRUCTURED_OUTPUTS = ['auto', 'json_schema', 'prompt'] as const;

/** How hard a reasoning model is asked to think; each dialect says it in its own words. */
export const REASONING_EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** How to reach the model of this turn. */
export const modelSettings = v.object({
  dialect: v.picklist([...DIALECTS, DECISION]),
  /** Model name as the provider knows it. */
  model: v.string(),
  /** Full request URL (`…/v1/chat/completions`, `…/v1/messages`, `…/model/NAME/converse-stream`); empty for the built-in model. */
  url: v.string(),
  /** Further endpoints of the same model, tried in this order when the first cannot serve. */
  urls: v.optional(v.array(v.string())),
  /** Extra request headers that are not secret. */
  headers: v.record(v.string(), v.string()),
  /** Output cap of one call; 0 leaves it to the provider (8192 where the provider demands one). */
  max_output_tokens: count,
  /** Sent to a reasoning model, in place of a temperature. */
  reasoning_effort: v.optional(v.picklist(REASONING_EFFORTS)),
  /** Room for its thinking, on top of max_output_tokens. */
  thinking_tokens: v.optional(count),
  /** Sent as `temperature`; null sends none (current models of some providers refuse one). */
  temperature: v.nullable(v.number()),
  /** How a schema for the answer is told: by an option of the request, in words, or as the dialect can (left out: `auto`). */
  structured_output: v.optional(v.picklist(STRUCTURED_OUTPUTS)),
  /** Request options this model refused before (`option_dropped`), never sent to it again by this supervisor. */
  omit: v.array(v.string()),
  connect_ms: positiveMs,
  first_byte_ms: positiveMs,
  /** Longest silence between meaningful events of a stream. */
  idle_ms: positiveMs,
  call_ms: positiveMs,
  /** Tries after the first one, for what a retry can help. */
  retries: count,
  /** Longest `Retry-After` that is obeyed; a longer one fails the call and says when to come back. */
  retry_after_max_ms: positiveMs,
});
export type ModelSettings = v.InferOutput<typeof modelSettings>;

const turnLimits = v.object({
  rounds: count,
  /** Input plus output tokens of the whole turn. */
  tokens: count,
  /** What is left of the deadline when the snapshot is sent. Bounds the call in flight too. */
  deadline_ms: positiveMs,
  loop_repeats: count,
  /** Bytes of one tool result that the model sees; the rest goes to an artifact. */
  tool_output_bytes: count,
  /** Hard cap of what one command may write to its spill file. */
  spill_bytes: count,
  /** Largest single write or fetch. */
  file_bytes: count,
  exec_timeout_ms: positiveMs,
  exec_timeout_max_ms: positiveMs,
  exec_yield_ms: positiveMs,
  parallel_calls: count,
  fetch_bytes: count,
  fetch_ms: positiveMs,
});
export type TurnLimits = v.InferOutput<typeof turnLimits>;

/** What is enforced for this turn, and by what. Shown to people; judged in the supervisor. */
const securitySnapshot = v.object({
  mode: v.picklist(['full_access', 'auto_accept_edits', 'supervised']),
  source: v.picklist(['default', 'config', 'flag', 'client']),
  /** Containment layers that hold on this machine, strongest first. */
  containment: v.array(v.string()),
  /** Hosts or CIDR ranges of private addresses that web tools may reach. */
  web_allow_private: v.array(v.string()),
});
export type SecuritySnapshot = v.InferOutput<typeof securitySnapshot>;

export const turnSnapshot = v.object({
  turn_id: v.string(),
  thread_id: v.string(),
  instance: v.string(),
  /** Prefix of idempotency keys: `<instance>/<thread>#<turn>`; a call appends `.<index>`. */
  idempotency_prefix: v.string(),
  system_prompt: v.string(),
  messages: v.array(message),
  tools: v.array(plannedTool),
  model: modelSettings,
  /** Who goes on, in this order, when the model cannot be reached: between two requests, never within one. */
  fallbacks: v.optional(v.array(modelSettings)),
  limits: turnLimits,
  security: securitySnapshot,
  /** Absolute, resolved root of the workspace; relative paths of tools start here. */
  workspace_root: v.string(),
  /** Private directory of this turn for spilled output; exists, mode 0700. */
  spool_dir: v.string(),
  /** Value of the TURND_TURN marker in the environment of everything this turn starts. */
  process_marker: v.string(),
  /** When the transcript is to be folded; absent: never asked for. */
  context: v.optional(
    v.object({
      /** Size of a request, in tokens of the model, from which on. */
      fold_tokens: count,
      /** What the model reads at once. */
      window_tokens: count,
      /** How often this turn may have its transcript folded. */
      folds: count,
      /** System prompt and tools, by our estimate. */
      fixed_tokens: count,
      /** The model's tokens over our estimate, by earlier turns. */
      calibration: v.pipe(v.number(), v.minValue(0)),
    }),
  ),
  /** Ask the supervisor before each model call. */
  budget_admission: v.boolean(),
  /** What earlier windows of this turn used, when it goes on: counters start from here. */
  prior: v.optional(
    v.object({
      rounds: count,
      tokens: count,
      calls: count,
      tool_calls: count,
      /** Tokens of subagents, beside its own. */
      subagent_tokens: v.optional(count),
      /** Text of answers that the output limit cut, which the next one goes on from. */
      unfinished: v.optional(v.string()),
      /** An answer that was recorded but not acted upon: nothing is asked again before it is. */
      last: v.optional(v.object({ text: v.string(), stop: v.string(), finish: v.optional(jsonObject) })),
    }),
  ),
  /** JSON Schema that the final answer must match; absent for prose. */
  output_schema: v.optional(jsonObject),
});
export type TurnSnapshot = v.InferOutput<typeof turnSnapshot>;

/** What requests to AWS are signed with. */
const awsKeys = v.object({
  region: v.string(),
  access_key_id: v.string(),
  secret_access_key: v.string(),
  /** Of temporary keys only. */
  session_token: v.optional(v.string()),
});
export type AwsKeys = v.InferOutput<typeof awsKeys>;

const modelCredentials = v.object({
  token: v.optional(v.string()),
  headers: v.record(v.string(), v.string()),
  aws: v.optional(awsKeys),
  /** Extra certificate authorities, PEM. */
  ca: v.optional(v.string()),
});
/** What one model is reached with. */
export type ModelCredentials = v.InferOutput<typeof modelCredentials>;

/** Secrets of this turn. Never stored, never logged, never hashed, never in argv or environment. */
export const turnCredentials = v.object({
  ...modelCredentials.entries,
  /** Of the snapshot's `fallbacks`, one for one. */
  fallbacks: v.optional(v.array(modelCredentials)),
  /** Values that must be masked in whatever leaves the worker. */
  mask: v.array(v.string()),
});
export type TurnCredentials = v.InferOutput<typeof turnCredentials>;
