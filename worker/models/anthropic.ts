// The messages dialect of Anthropic.
import { AnthropicReader } from './anthropic-reader.js';
import { writeAnthropic } from './anthropic-request.js';
import type { Dialect } from './dialect.js';
import { serverSentEvents } from './sse.js';

const VERSION = '2023-06-01';

export const anthropicDialect: Dialect = {
  framing: serverSentEvents,
  headers: ({ credentials }) => ({
    'anthropic-version': VERSION,
    ...(credentials.token === undefined ? {} : { 'x-api-key': credentials.token }),
  }),
  write: writeAnthropic,
  reader: (onEvent) => new AnthropicReader(onEvent),
};
