// How many subagents turns may have. Each bound is a refusal that the model is told, never a failure.
import * as v from 'valibot';
import { count, group, leafOf } from './leaf.js';
import { DURATION_PATTERN, formatDuration, parseDuration } from './units.js';

/** So many starts within so long a time. */
interface Rate {
  readonly starts: number;
  readonly per_ms: number;
}

const expected = 'expected a number of starts and a time, such as 8/2s or 100/1m';

function parseRate(text: string): Rate {
  const [starts = '', per = ''] = text.split('/');
  return { starts: Number(starts), per_ms: DURATION_PATTERN.test(per) ? parseDuration(per) : Number.NaN };
}

const rate = leafOf<Rate>(
  'Starts of subagents within a time, in all.',
  v.pipe(
    v.string(expected),
    v.regex(/^\d{1,6}\/\S+$/, expected),
    v.transform(parseRate),
    v.check(({ starts }) => starts >= 1, expected),
    v.check(({ per_ms: perMs }) => perMs >= 1 && perMs <= 24 * 60 * 60 * 1_000, expected),
  ),
  { show: ({ starts, per_ms: perMs }) => JSON.stringify(`${starts}/${formatDuration(perMs)}`) },
);

export const subagents = group('Subagents: work that turns give to conversations of their own.', {
  depth: count('Subagents below each other. 0: there are none.', { min: 0, max: 16 }),
  breadth: count('At work at once for one turn.', { min: 1, max: 1_000 }),
  total: count('At work at once in all.', { min: 1, max: 100_000 }),
  rate,
});
