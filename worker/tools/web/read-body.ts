// Reads the body of a response, decompressed as it streams, within limits on what comes over the wire, on what it becomes,
// and on time. What came until a limit is kept.
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { ToolFailure } from '../files/tool-failure.js';
import type { BodyStore } from './body-store.js';

export interface BodyEnd {
  /** After decompression. */
  readonly bytes: number;
  /** Why there is less than the server would send; null when it is whole. */
  readonly cut: 'bytes' | 'time' | 'broken' | null;
}

const CODINGS_MAX = 2;

export async function readBody(
  response: IncomingMessage,
  store: BodyStore,
  bytesMax: number,
  timedOut: () => boolean,
): Promise<BodyEnd> {
  let bytes = 0;
  let raw = 0;
  let cut: BodyEnd['cut'] = null;
  const body = await decoded(response);
  response.on('data', (chunk: Buffer) => {
    raw += chunk.length;
    // Compression that makes a body larger is no reason to read for ever.
    if (raw > bytesMax + 64 * 1024) body.destroy();
  });
  try {
    for await (const piece of body) {
      const chunk = piece as Buffer;
      const part = chunk.subarray(0, bytesMax - bytes);
      await store.push(part);
      bytes += part.length;
      if (part.length < chunk.length) {
        cut = 'bytes';
        break;
      }
    }
  } catch (error) {
    if (raw > bytesMax) cut = 'bytes';
    else cut = timedOut() ? 'time' : 'broken';
    if (bytes === 0 && cut === 'broken') throw brokenBody(error);
  } finally {
    body.destroy();
    response.destroy();
  }
  return { bytes, cut };
}

async function decoded(response: IncomingMessage): Promise<Readable> {
  const codings = (response.headers['content-encoding'] ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length === 0) return response;
  if (codings.length > CODINGS_MAX) throw unknownCoding(codings.join(', '));
  // The last one named was applied last, and comes off first.
  const decoders: Transform[] = [];
  for (const coding of codings.toReversed()) decoders.push(await decoderFor(coding, response));
  const [first, second] = decoders;
  const done = (): void => undefined;
  if (first === undefined) return response;
  return second === undefined ? pipeline(response, first, done) : pipeline(response, first, second, done);
}

async function decoderFor(coding: string, response: IncomingMessage): Promise<Transform> {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip();
  if (coding === 'br') return createBrotliDecompress();
  if (coding !== 'deflate') throw unknownCoding(coding);
  // Some servers mean deflate with its header, some without; the first byte tells.
  const first = await firstByte(response);
  return first !== null && (first & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

async function firstByte(response: IncomingMessage): Promise<number | null> {
  for (;;) {
    const chunk = response.read() as Buffer | null;
    if (chunk !== null) {
      response.unshift(chunk);
      return chunk[0] ?? null;
    }
    if (response.readableEnded || response.destroyed) return null;
    await new Promise<void>((resolve) => {
      for (const event of ['readable', 'end', 'close', 'error']) response.once(event, () => resolve());
    });
  }
}

function unknownCoding(coding: string): ToolFailure {
  return new ToolFailure(
    `The answer is compressed in a way that is not understood (${coding.slice(0, 60)}).`,
  );
}

function brokenBody(error: unknown): Error {
  if (error instanceof ToolFailure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return new ToolFailure(`The answer broke off or its compression is broken (${code}).`, { code });
}
