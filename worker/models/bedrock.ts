// The Converse dialect of Amazon Bedrock: any model behind one form of request, signed, answered as a binary stream.
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import { BedrockReader } from './bedrock-reader.js';
import { writeBedrock } from './bedrock-request.js';
import type { Dialect, Sending } from './dialect.js';
import { awsEventStream } from './event-stream.js';
import type { ModelRequest } from './provider.js';
import { encodeStrictly, signature } from './sigv4.js';

const SERVICE = 'bedrock';

/** With AWS keys signed; with a token, which such services give out as well, as a bearer of it. */
function headers({ credentials }: ModelRequest, { url, body, nowMs }: Sending): Record<string, string> {
  const { aws, token } = credentials;
  if (aws === undefined) return token === undefined ? {} : { authorization: `Bearer ${token}` };
  return signature({
    method: 'POST',
    path: url.pathname,
    query: url.searchParams,
    headers: { 'content-type': 'application/json', host: url.host },
    body,
    service: SERVICE,
    keys: aws,
    atMs: nowMs,
  });
}

/** The model stands in the path, as one segment; it may be another one than when the settings were made. */
function address(url: URL, settings: ModelSettings): URL {
  const addressed = new URL(url);
  addressed.pathname = url.pathname.replace(
    /\/model\/[^/]+\/converse-stream$/,
    () => `/model/${encodeStrictly(settings.model)}/converse-stream`,
  );
  return addressed;
}

export const bedrockDialect: Dialect = {
  framing: awsEventStream,
  headers,
  address,
  write: writeBedrock,
  reader: (onEvent) => new BedrockReader(onEvent),
};
