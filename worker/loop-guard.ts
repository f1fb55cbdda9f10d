// Ends a turn that repeats itself. Counts equal calls (same tool, same canonical arguments) over the whole turn, not in
// a row: other calls in between do not make a repeat progress. A tool that declares `polls` is asked again honestly, so
// for it only repeats with the same result count. Pure: it only counts.
import { createHash } from 'node:crypto';
import { cutText } from '../shared/transcript/unicode.js';

export type LoopVerdict =
  | { readonly kind: 'go' }
  /** One more repeat ends the turn: tell the model. */
  | { readonly kind: 'hint'; readonly text: string }
  | { readonly kind: 'loop'; readonly text: string };

export interface GuardedCall {
  readonly round: number;
  readonly tool: string;
  /** Canonical JSON. */
  readonly argumentsText: string;
  readonly polls: boolean;
}

const GO: LoopVerdict = { kind: 'go' };
const SHOWN_BYTES = 160;
/** Calls looked back on to name a pattern. */
const RECENT = 24;
const LONGEST_CYCLE = 6;

export class LoopGuard {
  readonly #repeats: number;
  readonly #counts = new Map<string, number>();
  readonly #recent: string[] = [];

  /** `repeats` below 2 switches the guard off. */
  constructor(repeats: number) {
    this.#repeats = repeats;
  }

  /** Before a call runs. */
  begin(call: GuardedCall): LoopVerdict {
    this.#recent.push(labelOf(call));
    if (this.#recent.length > RECENT) this.#recent.shift();
    // Within one answer nothing has happened between two equal polls: there they count like any call.
    const scope = call.polls ? `round ${call.round}` : 'turn';
    return this.#count(call, keyOf(scope, call.tool, call.argumentsText), 'identical arguments');
  }

  /** After a call ran. `resultText` is the canonical JSON of its content. */
  finish(call: GuardedCall, resultText: string): LoopVerdict {
    if (!call.polls) return GO;
    const key = keyOf('result', call.tool, call.argumentsText, resultText);
    return this.#count(call, key, 'identical arguments and the same result');
  }

  #count(call: GuardedCall, key: string, what: string): LoopVerdict {
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (this.#repeats < 2 || count < this.#repeats - 1) return GO;
    const fact = `${labelOf(call)} was called ${count} times with ${what}`;
    if (count >= this.#repeats) return { kind: 'loop', text: `${fact}${this.#pattern()}` };
    if (this.#repeats === 2) return GO;
    return {
      kind: 'hint',
      text: `${fact}. One more such call ends this turn. Use what is known, change the arguments, or answer.`,
    };
  }

  /** Names the cycle when several calls take turns. */
  #pattern(): string {
    for (let period = 2; period <= LONGEST_CYCLE; period += 1) {
      const tail = this.#recent.slice(-2 * period);
      if (tail.length < 2 * period || new Set(tail).size < 2) continue;
      if (tail.every((label, index) => label === tail[index % period]))
        return `; these calls take turns: ${tail.slice(0, period).join(', ')}`;
    }
    return '';
  }
}

function labelOf(call: GuardedCall): string {
  return `${call.tool} ${cutText(call.argumentsText, SHOWN_BYTES)}`;
}

/** Fixed in size, whatever the arguments and results weigh. */
function keyOf(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('base64');
}
