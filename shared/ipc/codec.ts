// Frames as bytes: 4 bytes of big-endian length, then MessagePack. Pure: it owns no socket and
// no queue, and does not know what frames mean: the side that receives them checks them (parse-frame.ts).
// Faults are values, because both a peer's broken frame and our own oversized one are expected and end in a sentence.
// The build without native code is used on purpose: an addon costs every worker more at start than it ever gives back.
import msgpackr from 'msgpackr/index-no-eval';
import { scanPlain } from './plain-scan.js';
import type { ToSupervisor } from './to-supervisor.js';
import type { ToWorker } from './to-worker.js';

/** Largest content of one frame, in both directions. */
export const FRAME_MAX_BYTES = 16 * 1024 * 1024;

const HEADER_BYTES = 4;
/** What the encoder's shared buffer may grow to before it is given back. */
const SCRATCH_BYTES = 64 * 1024;

const packr = new msgpackr.Packr({ useRecords: false, mapsAsObjects: true });
const reserveHeader = msgpackr.RESERVE_START_SPACE + HEADER_BYTES;

export type Encoded =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly message: string };

function tooLarge(bytes: number): string {
  return `A frame of ${bytes} bytes is over the cap of ${FRAME_MAX_BYTES} bytes`;
}

/** One frame as bytes, header included; or why it cannot be sent. The bytes are the caller's to keep. */
export function encodeFrame(frame: ToWorker | ToSupervisor): Encoded {
  let bytes: Buffer;
  try {
    bytes = packr.pack(frame, reserveHeader);
  } catch {
    return { ok: false, message: `A ${frame.type} frame cannot be encoded: it is too deep or too large` };
  }
  if (bytes.length > SCRATCH_BYTES) packr.useBuffer(Buffer.allocUnsafeSlow(8192));
  const length = bytes.length - HEADER_BYTES;
  if (length > FRAME_MAX_BYTES) return { ok: false, message: tooLarge(length) };
  const wrong = scanPlain(bytes, HEADER_BYTES);
  if (wrong !== null) return { ok: false, message: `A ${frame.type} frame cannot be encoded: ${wrong}` };
  bytes.writeUInt32BE(length, 0);
  return { ok: true, bytes };
}

export type Read =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'more' }
  | { readonly kind: 'broken'; readonly message: string };

const MORE: Read = { kind: 'more' };

/** Cuts a byte stream into frames, whatever the chunk borders. Each byte is copied at most once. */
export class FrameReader {
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #header = Buffer.alloc(HEADER_BYTES);
  #headerFilled = 0;
  /** A frame that spans chunks, filled as they come. */
  #body: Buffer | null = null;
  #bodyFilled = 0;
  #broken: Read | null = null;

  /** Takes the next chunk. Every frame of the last one must have been read. */
  push(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** The next whole value; `more` when a chunk is needed; `broken` for good once the stream makes no sense. */
  read(): Read {
    if (this.#broken !== null) return this.#broken;
    const body = this.#body ?? this.#begin();
    if (body === null) return this.#broken ?? MORE;
    if (body === this.#body && !this.#fill(body)) return MORE;
    this.#body = null;
    this.#headerFilled = 0;
    return this.#decode(body);
  }

  /** Reads the header; gives the content when this chunk holds all of it, else starts a body that spans chunks. */
  #begin(): Buffer | null {
    while (this.#headerFilled < HEADER_BYTES) {
      const byte = this.#chunk[this.#at];
      if (byte === undefined) return null;
      this.#header[this.#headerFilled] = byte;
      this.#headerFilled += 1;
      this.#at += 1;
    }
    const length = this.#header.readUInt32BE(0);
    if (length > FRAME_MAX_BYTES) {
      this.#broken = { kind: 'broken', message: tooLarge(length) };
      return null;
    }
    const end = this.#at + length;
    if (end <= this.#chunk.length) {
      const body = this.#chunk.subarray(this.#at, end);
      this.#at = end;
      return body;
    }
    this.#body = Buffer.allocUnsafeSlow(length);
    this.#bodyFilled = 0;
    return this.#body;
  }

  #fill(body: Buffer): boolean {
    const copied = this.#chunk.copy(body, this.#bodyFilled, this.#at);
    this.#bodyFilled += copied;
    this.#at += copied;
    return this.#bodyFilled === body.length;
  }

  #decode(body: Buffer): Read {
    const wrong = scanPlain(body, 0);
    if (wrong === null) {
      try {
        return { kind: 'value', value: packr.unpack(body) };
      } catch {
        // Falls through to the same sentence: the bytes are not what the scan promised.
      }
    }
    this.#broken = { kind: 'broken', message: `A frame cannot be read: ${wrong ?? 'it is malformed'}` };
    return this.#broken;
  }
}
