// The messages dialect of Anthropic.
import { AnthropicReader } from './anthropic-reader.js';
import { writeAnthropic } from './anthropic-request.js';
import type { Dialect } from './dialect.js';

const VERSION = '2023-06-01';

export const anthropicDialect: Dialect = {
  headers: ({ credentials }) => ({
    'anthropic-version': VERSION,
    ...(credentials.token === undefined ? {} : { 'x-api-key': credentials.token }),
  }),
  write: writeAnthropic,
  reader: (onEvent) => new AnthropicReader(onEvent),
};
