// The chat-completions dialect, as OpenAI and the many servers that follow it speak it.
import type { Dialect } from './dialect.js';
import { OpenaiReader } from './openai-reader.js';
import { writeOpenai } from './openai-request.js';
import { serverSentEvents } from './sse.js';

export const openaiDialect: Dialect = {
  framing: serverSentEvents,
  headers: ({ credentials }) =>
    credentials.token === undefined ? {} : { authorization: `Bearer ${credentials.token}` },
  write: writeOpenai,
  reader: (onEvent) => new OpenaiReader(onEvent),
};
