// Bytes of an endless stream in bounded memory: the beginning, the end, and a count of what lay between.
// Bytes only; what they mean as text is bounded-output.ts.

export interface KeptOutput {
  readonly head: Buffer;
  /** Follows `head` directly when nothing was omitted. */
  readonly tail: Buffer;
  readonly omittedBytes: number;
  /** Line ends within the omitted bytes. */
  readonly omittedLines: number;
}

const LINE_END = 10;

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  // A plain loop: a search call for each line is slower by far on output made of short lines.
  for (let index = 0; index < bytes.length; index += 1) if (bytes[index] === LINE_END) lines += 1;
  return lines;
}

export class OutputBuffer {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  /** Written round and round once it is full; made when the head is. */
  #ring: Buffer | null = null;
  #ringEnd = 0;
  #afterHead = 0;
  #linesAfterHead = 0;

  /** Keeps at most `limitBytes`, half of it from the beginning. */
  constructor(limitBytes: number) {
    this.#headLimit = Math.floor(limitBytes / 2);
    this.#tailLimit = limitBytes - this.#headLimit;
  }

  /** Bytes since the last `take`. */
  get bytes(): number {
    return this.#headBytes + this.#afterHead;
  }

  /** Copies what it keeps; the chunk may be used again by the caller. */
  push(chunk: Uint8Array): void {
    const room = this.#headLimit - this.#headBytes;
    if (room > 0) {
      const first = Buffer.from(chunk.subarray(0, room));
      this.#head.push(first);
      this.#headBytes += first.length;
      if (this.#head.length > 64) this.#head = [Buffer.concat(this.#head)];
    }
    if (chunk.length > room) this.#pushTail(chunk.subarray(Math.max(0, room)));
  }

  #pushTail(bytes: Uint8Array): void {
    this.#afterHead += bytes.length;
    this.#linesAfterHead += countLines(bytes);
    if (this.#tailLimit === 0) return;
    this.#ring ??= Buffer.allocUnsafe(this.#tailLimit);
    const kept = bytes.subarray(Math.max(0, bytes.length - this.#tailLimit));
    const untilWrap = this.#tailLimit - this.#ringEnd;
    this.#ring.set(kept.subarray(0, untilWrap), this.#ringEnd);
    if (kept.length > untilWrap) this.#ring.set(kept.subarray(untilWrap), 0);
    this.#ringEnd = (this.#ringEnd + kept.length) % this.#tailLimit;
  }

  /** What is kept, without forgetting it. */
  kept(): KeptOutput {
    const head = Buffer.concat(this.#head);
    const tail = this.#tail();
    const omittedBytes = this.#afterHead - tail.length;
    return { head, tail, omittedBytes, omittedLines: this.#linesAfterHead - countLines(tail) };
  }

  #tail(): Buffer {
    if (this.#ring === null) return Buffer.alloc(0);
    if (this.#afterHead < this.#tailLimit) return Buffer.from(this.#ring.subarray(0, this.#afterHead));
    return Buffer.concat([this.#ring.subarray(this.#ringEnd), this.#ring.subarray(0, this.#ringEnd)]);
  }

  /** What is kept, and begins anew: the next one tells only of later bytes. */
  take(): KeptOutput {
    const kept = this.kept();
    this.#head = [];
    this.#headBytes = 0;
    this.#ring = null;
    this.#ringEnd = 0;
    this.#afterHead = 0;
    this.#linesAfterHead = 0;
    return kept;
  }
}
