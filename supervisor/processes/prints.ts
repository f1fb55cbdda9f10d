// What a worker printed, kept for the log: the last lines only, however much there is. It is never read as frames.
import type { Readable } from 'node:stream';

const KEEP_BYTES = 4096;
const KEEP_LINES = 20;

export interface Prints {
  /** The last lines, as text. */
  tail(): string;
  /** Resolves when nothing more will be printed. */
  readonly ended: Promise<unknown>;
}

export function collectPrints(streams: readonly Readable[]): Prints {
  let kept = Buffer.alloc(0);
  for (const stream of streams) {
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      const joined = chunk.length >= KEEP_BYTES ? chunk : Buffer.concat([kept, chunk]);
      kept = Buffer.from(joined.subarray(-KEEP_BYTES));
    });
  }
  const ended = Promise.all(
    streams.map((stream) => new Promise<void>((resolve) => stream.once('close', () => resolve()))),
  );
  return { ended, tail: () => kept.toString('utf8').trimEnd().split('\n').slice(-KEEP_LINES).join('\n') };
}
