// How the built-in model thinks: a plan asks for tool calls, is given their results, and ends with words. It keeps no
// state between rounds: each round replays it from its start over what the history holds.
import type { JsonObject, JsonValue } from '../../../shared/json.js';

export interface Ask {
  /** Dotted name of the tool. */
  readonly tool: string;
  readonly arguments: JsonObject;
}

export interface Given {
  readonly content: JsonValue;
  /** Why the call gave nothing, in the words of whoever refused or failed; null when it worked. */
  readonly failure: string | null;
}

export interface Told {
  /** For the person. */
  readonly text: string;
  /** What `it` means to the next step: the plain result; null when there is none. */
  readonly result: string | null;
}

/** Asks of one yield go out in one round; their results come back in the same order, as many as were asked. */
export type Plan = Generator<readonly Ask[], Told, readonly Given[]>;

/** Asks for one call. */
export function* ask(tool: string, args: JsonObject): Generator<readonly Ask[], Given, readonly Given[]> {
  const [given] = yield [{ tool, arguments: args }];
  return given ?? { content: null, failure: 'the call gave no result' };
}
