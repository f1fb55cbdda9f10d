// How far our estimates are off for one model, learned from the numbers of its provider. Pure: what is known so far and
// one more observation give what is known from then on.

export interface Calibration {
  /** Provider's input tokens over our estimate; 1 before anything is known. */
  readonly ratio: number;
  /** Observations behind it. */
  readonly samples: number;
  /** A request of this many tokens was too long for the model, whatever its window is said to be; null: none was. */
  readonly too_long_tokens: number | null;
}

export const UNCALIBRATED: Calibration = { ratio: 1, samples: 0, too_long_tokens: null };

/** How much one more observation counts. */
const WEIGHT = 0.2;
/** Further off than this is a strange server, not a strange text. */
const RATIO_MIN = 0.5;
const RATIO_MAX = 3;
/** Smaller requests say more about the frame around a text than about the text. */
const ESTIMATE_MIN = 64;

/** `actualTokens` is what the provider counted for a request that we took for `estimateTokens` (uncalibrated). */
export function learn(known: Calibration, estimateTokens: number, actualTokens: number): Calibration {
  if (estimateTokens < ESTIMATE_MIN || actualTokens <= 0) return known;
  const seen = clamp(actualTokens / estimateTokens);
  const ratio = known.samples === 0 ? seen : clamp(known.ratio + WEIGHT * (seen - known.ratio));
  const { too_long_tokens: limit } = known;
  const longer = limit !== null && actualTokens >= limit;
  return { ratio, samples: known.samples + 1, too_long_tokens: longer ? null : limit };
}

/** A request of `tokens` (calibrated) was refused as too long: from now on less is taken for the whole window. */
export function learnTooLong(known: Calibration, tokens: number): Calibration {
  const limit = Math.max(1, Math.floor(tokens));
  const { too_long_tokens: before } = known;
  return { ...known, too_long_tokens: before === null ? limit : Math.min(before, limit) };
}

function clamp(ratio: number): number {
  return Math.min(RATIO_MAX, Math.max(RATIO_MIN, ratio));
}
