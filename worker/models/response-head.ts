// What is read from the head of a response: the little that decides what its body means, and is safe to repeat.
import type { IncomingMessage } from 'node:http';

export interface ResponseHead {
  readonly status: number;
  /** Media type without parameters; empty when there was none. */
  readonly contentType: string;
  /** The provider's id of the request; null when there was none that can be shown. */
  readonly requestId: string | null;
  readonly retryAfter: string | undefined;
  /** The kind of error, where the head names it; for classification only. */
  readonly errorType: string;
}

function header(response: IncomingMessage, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export function headOf(response: IncomingMessage): ResponseHead {
  const id = ['request-id', 'x-request-id', 'x-amzn-requestid']
    .map((name) => header(response, name))
    .find((value) => value !== undefined);
  return {
    status: response.statusCode ?? 0,
    contentType: (header(response, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
    requestId: id !== undefined && /^[A-Za-z0-9_.:-]{1,100}$/.test(id) ? id : null,
    retryAfter: header(response, 'retry-after'),
    errorType: (header(response, 'x-amzn-errortype') ?? '').split(':')[0] ?? '',
  };
}
