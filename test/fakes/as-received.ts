// A request that a dialect wrote, as its provider gets it: bytes, decoded again.
import type { JsonObject } from '../../shared/json.js';
import type { FakeRequest, HttpDialect } from './model-steps.js';

export function asReceived(dialect: HttpDialect, text: string): FakeRequest {
  const bodyText = Buffer.from(text).toString('utf8');
  return {
    index: 0,
    method: 'POST',
    path: '/model/x/converse-stream',
    dialect,
    headers: { 'anthropic-version': '2023-06-01', authorization: 'Bearer x' },
    bodyText,
    body: JSON.parse(bodyText) as JsonObject,
    connection: 1,
    receivedMs: 0,
    aborted: new Promise(() => undefined),
  };
}
