// A search for reference texts, which a spare worker makes instead of a turn: reading files and waiting for servers is
// nothing for the process that everything else waits for.
import * as v from 'valibot';

const positiveMs = v.pipe(v.number(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const searchOrder = v.object({
  query: v.string(),
  place: v.variant('kind', [
    /** Text files below an absolute path. */
    v.object({ kind: v.literal('files'), root: v.string() }),
    v.object({ kind: v.literal('server'), url: v.string(), token: v.optional(v.string()) }),
  ]),
  /** Most hits, and most bytes of their texts together. */
  top: count,
  bytes: count,
  time_ms: positiveMs,
});
export type SearchOrder = v.InferOutput<typeof searchOrder>;

export const searchHit = v.object({
  /** Where the text stands, to be cited. */
  source: v.string(),
  text: v.string(),
});
export type SearchHit = v.InferOutput<typeof searchHit>;
