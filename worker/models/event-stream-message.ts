// Writes one message of a binary event stream, as a service does: for the stand-in model of rehearsals, and for tests.
import { crc32 } from './crc32.js';

const STRING = 7;

function header(name: string, value: string): Buffer {
  const text = Buffer.from(value, 'utf8');
  const head = Buffer.from(name, 'utf8');
  const bytes = Buffer.alloc(4 + head.length + text.length);
  bytes.writeUInt8(head.length, 0);
  head.copy(bytes, 1);
  bytes.writeUInt8(STRING, 1 + head.length);
  bytes.writeUInt16BE(text.length, 2 + head.length);
  text.copy(bytes, 4 + head.length);
  return bytes;
}

/** Headers are text only, which is all that model services send. */
export function eventStreamMessage(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload, 'utf8');
  const total = 16 + head.length + body.length;
  const bytes = Buffer.alloc(total);
  bytes.writeUInt32BE(total, 0);
  bytes.writeUInt32BE(head.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  head.copy(bytes, 12);
  body.copy(bytes, 12 + head.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, total - 4)), total - 4);
  return bytes;
}

/** An event of a model service: its name and its JSON payload. */
export function modelEvent(name: string, payload: string): Buffer {
  return eventStreamMessage(
    { ':message-type': 'event', ':event-type': name, ':content-type': 'application/json' },
    payload,
  );
}
