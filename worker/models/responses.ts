// The responses dialect of OpenAI: items in, items out, nothing kept at the provider.
import type { Dialect } from './dialect.js';
import { ResponsesReader } from './responses-reader.js';
import { writeResponses } from './responses-request.js';
import { serverSentEvents } from './sse.js';

export const responsesDialect: Dialect = {
  framing: serverSentEvents,
  headers: ({ credentials }) =>
    credentials.token === undefined ? {} : { authorization: `Bearer ${credentials.token}` },
  write: writeResponses,
  reader: (onEvent) => new ResponsesReader(onEvent),
};
