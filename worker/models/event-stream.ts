// The binary event streams of AWS (`application/vnd.amazon.eventstream`): messages with headers and a payload, both
// lengths and checksums checked. Each message is passed on as JSON text: an event under its name, or an error.
import { crc32 } from './crc32.js';
import type { Framing, StreamFault } from './dialect.js';

/** Two lengths and their checksum. */
const PRELUDE = 12;
const TRAILER = 4;
/** The format's own bounds. */
const MESSAGE_MAX = 16 * 1024 * 1024;
const HEADERS_MAX = 128 * 1024;

/** Bytes of the value of a header, by its type; two types say their own length. */
const FIXED: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16];
const STRING = 7;

/** The headers that are text; null when they are not what the format allows. */
function readHeaders(bytes: Buffer): Map<string, string> | null {
  const found = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    if (nameEnd + 1 > bytes.length) return null;
    const type = bytes.readUInt8(nameEnd);
    let from = nameEnd + 1;
    let length = FIXED[type];
    if (length === undefined) return null;
    if (length === null) {
      if (from + 2 > bytes.length) return null;
      length = bytes.readUInt16BE(from);
      from += 2;
    }
    if (from + length > bytes.length) return null;
    if (type === STRING)
      found.set(bytes.toString('utf8', at + 1, nameEnd), bytes.toString('utf8', from, from + length));
    at = from + length;
  }
  return found;
}

/** An event under its name; an exception, or an error that has no payload, as an `error` of a `type`. */
function asText(headers: Map<string, string>, payload: string): string {
  const kind = headers.get(':message-type');
  const body = payload.trim() === '' ? '{}' : payload;
  if (kind === 'exception')
    return `{"error":${body},"type":${JSON.stringify(headers.get(':exception-type') ?? '')}}`;
  if (kind === 'error') {
    const error = { message: headers.get(':error-message') ?? '' };
    return JSON.stringify({ error, type: headers.get(':error-code') ?? '' });
  }
  return `{${JSON.stringify(headers.get(':event-type') ?? '')}:${body}}`;
}

class Messages {
  readonly #onEvent: (data: string) => void;
  readonly #onBroken: (fault: StreamFault) => void;
  #pieces: Buffer[] = [];
  #held = 0;
  /** Bytes without which nothing more can be read. */
  #needed = PRELUDE;
  #broken = false;

  constructor(onEvent: (data: string) => void, onBroken: (fault: StreamFault) => void) {
    this.#onEvent = onEvent;
    this.#onBroken = onBroken;
  }

  push(bytes: Buffer): void {
    if (this.#broken) return;
    this.#pieces.push(bytes);
    this.#held += bytes.length;
    while (this.#held >= this.#needed && !this.#broken) this.#read();
  }

  /** Half a message at the end is none; the answer is then not complete, which its reader knows. */
  end(): void {
    this.#pieces = [];
    this.#held = 0;
  }

  #read(): void {
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    if (bytes === undefined) return;
    this.#pieces = [bytes];
    if (this.#needed === PRELUDE) {
      const total = bytes.readUInt32BE(0);
      const headers = bytes.readUInt32BE(4);
      if (bytes.readUInt32BE(8) !== crc32(bytes.subarray(0, 8))) this.#break('damaged');
      else if (total > MESSAGE_MAX || headers > HEADERS_MAX) this.#break('too_large');
      else if (total < PRELUDE + headers + TRAILER) this.#break('damaged');
      else this.#needed = total;
      return;
    }
    const total = this.#needed;
    const end = total - TRAILER;
    const headersEnd = PRELUDE + bytes.readUInt32BE(4);
    const headers =
      bytes.readUInt32BE(end) === crc32(bytes.subarray(0, end))
        ? readHeaders(bytes.subarray(PRELUDE, headersEnd))
        : null;
    if (headers === null) {
      this.#break('damaged');
      return;
    }
    this.#pieces = [bytes.subarray(total)];
    this.#held -= total;
    this.#needed = PRELUDE;
    this.#onEvent(asText(headers, bytes.toString('utf8', headersEnd, end)));
  }

  #break(fault: StreamFault): void {
    this.#broken = true;
    this.end();
    this.#onBroken(fault);
  }
}

export const awsEventStream: Framing = {
  contentType: 'application/vnd.amazon.eventstream',
  open: (onEvent, onBroken) => new Messages(onEvent, onBroken),
};
