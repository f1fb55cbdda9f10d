// The envelope of every message: JSON-RPC 2.0, one message a frame. Request ids are texts of exactly 21 characters.
import * as v from 'valibot';
import { ERRORS, type ErrorCode } from '../errors.js';
import { jsonValue } from '../json.js';
import { named, whole } from './named.js';

const VERSION = '2.0';
export const REQUEST_ID_LENGTH = 21;

const version = v.literal(VERSION);
const requestId = named(
  'RequestId',
  v.pipe(
    v.string(),
    v.check((text) => [...text].length === REQUEST_ID_LENGTH, `must have ${REQUEST_ID_LENGTH} characters`),
  ),
);

export const request = named(
  'Request',
  v.object({
    jsonrpc: version,
    id: requestId,
    method: v.string(),
    params: v.optional(v.unknown()),
  }),
);
export type Request = v.InferOutput<typeof request>;

export const errorData = named(
  'ErrorData',
  v.object({
    code: v.pipe(v.string(), v.description('Stable name of the failure.')),
    message: v.string(),
    retryable: v.pipe(v.boolean(), v.description('Whether the same request may succeed later.')),
    correlation_id: v.pipe(v.string(), v.description('Names this answer in the log of the daemon.')),
    retry_after_ms: v.nullish(whole),
  }),
);
export type ErrorData = v.InferOutput<typeof errorData>;

export const errorResponse = named(
  'ErrorResponse',
  v.object({
    jsonrpc: version,
    id: v.nullable(v.string()),
    error: v.object({ code: whole, message: v.string(), data: errorData }),
  }),
);
export type ErrorResponse = v.InferOutput<typeof errorResponse>;

export const response = named('Response', v.object({ jsonrpc: version, id: requestId, result: jsonValue }));

export type Response = v.InferOutput<typeof response>;

export const notificationEnvelope = named(
  'Notification',
  v.object({ jsonrpc: version, method: v.string(), params: jsonValue }),
);

export type NotificationEnvelope = v.InferOutput<typeof notificationEnvelope>;

export function requestText(id: string, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: VERSION, id, method, params });
}

export function responseText(id: string, result: unknown): string {
  return JSON.stringify({ jsonrpc: VERSION, id, result });
}

export function notificationText(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: VERSION, method, params });
}

/** `id` is null where the request could not be read that far. */
export function errorText(
  id: string | null,
  failure: { readonly code: ErrorCode; readonly message: string },
  correlationId: string,
): string {
  const { rpc, retry } = ERRORS[failure.code];
  const { code, message } = failure;
  const body: ErrorResponse = {
    jsonrpc: VERSION,
    id,
    error: {
      code: rpc,
      message,
      data: { code, message, retryable: retry !== 'never', correlation_id: correlationId },
    },
  };
  return JSON.stringify(body);
}
