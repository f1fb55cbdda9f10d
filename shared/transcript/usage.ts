// Tokens of one model call, by the provider's own numbers; estimated only where the provider gave none.
import * as v from 'valibot';

const tokens = v.pipe(v.number(), v.integer(), v.minValue(0));

export const usage = v.object({
  /** All input tokens, cached ones included. */
  input_tokens: tokens,
  output_tokens: tokens,
  /** The part of the input that came from the provider's cache. */
  cached_tokens: tokens,
  /** The part of the input that was written to the provider's cache, where it is told. */
  written_tokens: v.optional(tokens),
  /** True when the provider gave no numbers and these are our estimate. */
  estimated: v.boolean(),
});
export type Usage = v.InferOutput<typeof usage>;

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, estimated: false };

export function addUsage(left: Usage, right: Usage): Usage {
  const written = (left.written_tokens ?? 0) + (right.written_tokens ?? 0);
  return {
    input_tokens: left.input_tokens + right.input_tokens,
    output_tokens: left.output_tokens + right.output_tokens,
    cached_tokens: left.cached_tokens + right.cached_tokens,
    ...(written === 0 ? {} : { written_tokens: written }),
    estimated: left.estimated || right.estimated,
  };
}
