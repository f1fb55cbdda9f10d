// Server-sent events: the framing of most dialects.
import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import type { Framing } from './dialect.js';

/** One event; beyond it a stream is broken or hostile. */
const EVENT_MAX = 16 * 1024 * 1024;

export const serverSentEvents: Framing = {
  contentType: 'text/event-stream',
  open(onEvent, onBroken) {
    // Characters may be cut between two pieces.
    const decoder = new StringDecoder('utf8');
    const parser = createParser({
      maxBufferSize: EVENT_MAX,
      onEvent: (event) => onEvent(event.data),
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') onBroken('too_large');
      },
    });
    let begun = false;
    const feed = (text: string): void => {
      // The mark would become part of the first field's name, and the first event would be lost.
      parser.feed(begun ? text : text.replace(/^\uFEFF/, ''));
      begun ||= text !== '';
    };
    return {
      push: (bytes) => feed(decoder.write(bytes)),
      // The last event of a stream may lack its blank line.
      end: () => parser.feed(`${decoder.end()}\n\n`),
    };
  },
};
