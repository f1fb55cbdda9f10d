// What people who watch see of running output: coalesced, decoded across chunks, and thinned out when there is too much.
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../../shared/clock.js';

const FLUSH_MS = 50;
/** Most bytes shown in one flush: a person reads no more, and the wire to the supervisor is shared. */
const FLUSH_BYTES = 4096;

export class LiveOutput {
  readonly #clock: Clock;
  readonly #emit: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #pending = '';
  #skipped = 0;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, emit: (text: string) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  push(chunk: Buffer): void {
    const room = FLUSH_BYTES - this.#pending.length;
    const shown = chunk.subarray(0, Math.max(0, room));
    this.#pending += this.#decoder.write(shown);
    if (shown.length < chunk.length) {
      this.#skipped += chunk.length - shown.length;
      // The next bytes shown do not follow these: end a cut character here.
      this.#pending += this.#decoder.end();
    }
    this.#cancel ??= this.#clock.after(FLUSH_MS, () => this.#flush());
  }

  #flush(): void {
    this.#cancel = null;
    const gap = this.#skipped > 0 ? `\n[… ${this.#skipped} bytes not shown …]\n` : '';
    const text = this.#pending + gap;
    this.#pending = '';
    this.#skipped = 0;
    if (text !== '') this.#emit(text);
  }

  end(): void {
    this.#cancel?.();
    this.#pending += this.#decoder.end();
    this.#flush();
  }
}
