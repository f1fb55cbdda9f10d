// The one error table: stable code → JSON-RPC number, who must act, whether a retry can help.
// Expected refusals travel as values; only programmer errors are thrown. Codes are public and never change meaning.

export type Actor = 'client' | 'operator' | 'us';
export type Retry = 'never' | 'backoff' | 'now';

export interface ErrorRow {
  readonly rpc: number;
  readonly act: Actor;
  readonly retry: Retry;
}

export const ERRORS = {
  internal_error: { rpc: -32603, act: 'us', retry: 'never' },
  invalid_config: { rpc: -32602, act: 'operator', retry: 'never' },
  usage: { rpc: -32602, act: 'client', retry: 'never' },
  state_in_use: { rpc: -32010, act: 'operator', retry: 'backoff' },
  state_damaged: { rpc: -32011, act: 'operator', retry: 'never' },
  state_newer: { rpc: -32012, act: 'operator', retry: 'never' },
  /** The frame is no JSON. */
  parse_error: { rpc: -32700, act: 'client', retry: 'never' },
  /** JSON, but no request; or one that the state of things does not allow. */
  invalid_request: { rpc: -32600, act: 'client', retry: 'never' },
  method_not_found: { rpc: -32601, act: 'client', retry: 'never' },
  invalid_params: { rpc: -32602, act: 'client', retry: 'never' },
  /** The method is part of the protocol, and this daemon does not have it. */
  method_unavailable: { rpc: -32070, act: 'client', retry: 'never' },
  /** What the request asks for is part of the protocol, and this daemon does not have it. */
  not_available: { rpc: -32600, act: 'client', retry: 'never' },
  too_many_requests: { rpc: -32071, act: 'client', retry: 'backoff' },
  workspace_not_found: { rpc: -32600, act: 'client', retry: 'never' },
  thread_not_found: { rpc: -32600, act: 'client', retry: 'never' },
  /** The thread belongs to another workspace than the request says. */
  thread_elsewhere: { rpc: -32600, act: 'client', retry: 'never' },
  thread_busy: { rpc: -32600, act: 'client', retry: 'backoff' },
  turn_not_found: { rpc: -32600, act: 'client', retry: 'never' },
  /** The id of the turn names another request already. */
  turn_id_conflict: { rpc: -32600, act: 'client', retry: 'never' },
  question_not_found: { rpc: -32600, act: 'client', retry: 'never' },
  question_already_answered: { rpc: -32600, act: 'client', retry: 'never' },
  worker_lost: { rpc: -32030, act: 'operator', retry: 'now' },
  supervisor_lost: { rpc: -32031, act: 'operator', retry: 'now' },
  worker_start_failed: { rpc: -32032, act: 'operator', retry: 'backoff' },
  worker_stuck: { rpc: -32033, act: 'us', retry: 'now' },
  protocol_violation: { rpc: -32034, act: 'us', retry: 'never' },
  /** The endpoint cannot be reached, is silent past its limits, or keeps failing. */
  model_unreachable: { rpc: -32040, act: 'operator', retry: 'backoff' },
  /** The endpoint answered, and said no: credentials, unknown model, bad request. */
  model_rejected: { rpc: -32041, act: 'operator', retry: 'never' },
  model_rate_limited: { rpc: -32042, act: 'operator', retry: 'backoff' },
  /** The account behind the endpoint has no credit or quota left. */
  model_quota_exhausted: { rpc: -32043, act: 'operator', retry: 'never' },
  context_exhausted: { rpc: -32044, act: 'client', retry: 'never' },
  /** The model answered with nothing a person could read. */
  empty_reply: { rpc: -32045, act: 'client', retry: 'now' },
  /** The model kept sending tool calls that cannot be executed. */
  invalid_tool_calls: { rpc: -32046, act: 'client', retry: 'now' },
  /** The answer was cut by the output limit. */
  output_truncated: { rpc: -32047, act: 'client', retry: 'never' },
  schema_mismatch: { rpc: -32048, act: 'client', retry: 'now' },
  cancelled: { rpc: -32050, act: 'client', retry: 'never' },
  refused: { rpc: -32051, act: 'client', retry: 'never' },
  exhausted_steps: { rpc: -32052, act: 'client', retry: 'now' },
  exhausted_tokens: { rpc: -32053, act: 'client', retry: 'now' },
  deadline: { rpc: -32054, act: 'client', retry: 'now' },
  loop_detected: { rpc: -32055, act: 'client', retry: 'never' },
  finished_failed: { rpc: -32056, act: 'client', retry: 'never' },
  /** More messages wait than are let wait, for this sender or in all. */
  queue_full: { rpc: -32060, act: 'client', retry: 'backoff' },
  /** A message for a thread of somebody else. */
  not_owner: { rpc: -32061, act: 'client', retry: 'never' },
  /** Deliveries that follow from deliveries, too many in a row. */
  too_many_hops: { rpc: -32062, act: 'client', retry: 'never' },
  /** The id is taken by another message. */
  id_taken: { rpc: -32063, act: 'client', retry: 'never' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** An expected failure as a value: what happened, in words that say what to do. No stack, no secret, no raw provider body. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Leaves a command with a code of the exit table and one clear sentence; caught in main only. */
export class TurndError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TurndError';
    this.code = code;
  }
}
