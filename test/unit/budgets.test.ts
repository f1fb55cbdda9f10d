// The arithmetic of budgets: where windows start, what fits, what is lacking and until when, and what tokens cost.
import t from 'tap';
import { DEFAULTS } from '../../config/defaults.js';
import { costMicros, costProblem } from '../../supervisor/budgets/prices.js';
import { shortageOf } from '../../supervisor/budgets/purses.js';
import { lackOf, pacedAtMs, resetOf, windowAt } from '../../supervisor/budgets/windows.js';
import { budget, window } from '../fakes/budget.js';

const HOUR = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();
const NONE = { tokens: 0, requests: 0, cost_micros: 0 };
const tokens = (count: number) => ({ tokens: count, requests: 1, cost_micros: 0 });
const caps = (change: object) => ({ tokens: null, requests: null, cost_micros: null, ...change });

t.test(
  'windows start at whole units of UTC, weeks on Monday, and days and weeks at their time of day',
  (t) => {
    const at = Date.parse('2026-03-04T05:06:07.089Z');
    const span = (per: Parameters<typeof windowAt>[0], reset: string | null) => {
      const { startsAtMs, endsAtMs } = windowAt(per, resetOf(reset), at);
      return [iso(startsAtMs), iso(endsAtMs)].map((text) => text.slice(0, 19));
    };
    t.same(span('second', null), ['2026-03-04T05:06:07', '2026-03-04T05:06:08']);
    t.same(span('minute', null), ['2026-03-04T05:06:00', '2026-03-04T05:07:00']);
    t.same(span('hour', null), ['2026-03-04T05:00:00', '2026-03-04T06:00:00']);
    t.same(span('day', null), ['2026-03-04T00:00:00', '2026-03-05T00:00:00']);
    t.same(span('day', '04:30Z'), ['2026-03-04T04:30:00', '2026-03-05T04:30:00']);
    t.same(span('day', '05:30Z'), ['2026-03-03T05:30:00', '2026-03-04T05:30:00']);
    t.same(span('week', null), ['2026-03-02T00:00:00', '2026-03-09T00:00:00']);
    t.same(span('week', '23:59Z'), ['2026-03-02T23:59:00', '2026-03-09T23:59:00']);
    t.equal(
      iso(windowAt('week', 0, Date.parse('2026-03-02T00:00:00Z')).startsAtMs).slice(0, 10),
      '2026-03-02',
    );
    t.equal(
      iso(windowAt('week', 0, Date.parse('2026-03-01T23:59:59Z')).startsAtMs).slice(0, 10),
      '2026-02-23',
    );
    t.equal(iso(windowAt('week', 0, -1).startsAtMs).slice(0, 10), '1969-12-29', 'before the epoch too');
    t.end();
  },
);

t.test('every moment lies in exactly one window, and windows follow each other without a gap', (t) => {
  for (const per of ['second', 'minute', 'hour', 'day', 'week'] as const)
    for (const reset of [0, resetOf('07:45Z')])
      for (let ms = -9 * 86_400_000; ms < 9 * 86_400_000; ms += 7_654_321) {
        const { startsAtMs, endsAtMs } = windowAt(per, reset, ms);
        if (!(startsAtMs <= ms && ms < endsAtMs)) t.fail(`${per} ${ms}`);
        if (windowAt(per, reset, endsAtMs).startsAtMs !== endsAtMs) t.fail(`${per} ${ms} has a gap`);
        if (windowAt(per, reset, endsAtMs - 1).startsAtMs !== startsAtMs) t.fail(`${per} ${ms} is two`);
      }
  t.equal(resetOf('07:45Z'), 27_900_000);
  t.end();
});

t.test('a call fits up to the cap exactly; an empty window takes one of any size', (t) => {
  const books = (spent: number, held: number) => ({ spent: tokens(spent), held: tokens(held) });
  const cap = caps({ tokens: 100 });
  t.equal(lackOf(cap, { spent: NONE, held: NONE }, tokens(5_000)), null);
  t.equal(lackOf(cap, books(40, 50), tokens(10)), null);
  t.same(lackOf(cap, books(40, 50), tokens(11)), { dimension: 'tokens', why: 'held' });
  t.same(lackOf(cap, books(95, 1), tokens(11)), { dimension: 'tokens', why: 'spent' });
  t.same(lackOf(cap, { spent: NONE, held: tokens(1) }, tokens(5_000)), { dimension: 'tokens', why: 'held' });
  const two = caps({ tokens: 1_000, requests: 2 });
  t.same(lackOf(two, { spent: { ...tokens(1), requests: 2 }, held: NONE }, tokens(1)), {
    dimension: 'requests',
    why: 'spent',
  });
  const both = { spent: { tokens: 999, requests: 1, cost_micros: 0 }, held: { ...tokens(0), requests: 1 } };
  t.same(lackOf(two, both, tokens(9)), { dimension: 'tokens', why: 'spent' }, 'the worse of the two');
  t.equal(lackOf(caps({}), books(10 ** 12, 0), tokens(10 ** 12)), null, 'nothing is capped');
  t.end();
});

t.test('a pace lets a twentieth go ahead and then follows its rate to the end of the window', (t) => {
  const span = { startsAtMs: 0, endsAtMs: HOUR };
  const cap = caps({ tokens: 1_000 });
  const at = (spent: number, ask: number, factor: number) =>
    pacedAtMs(cap, { spent: tokens(spent), held: NONE }, tokens(ask), span, factor);
  t.equal(pacedAtMs(cap, { spent: NONE, held: NONE }, tokens(900), span, 0.5), 0, 'the first goes at once');
  t.equal(at(10, 40, 0.5), 0, 'within the burst');
  t.equal(at(50, 100, 0.5), HOUR * 0.2);
  t.equal(at(50, 100, 1), HOUR * 0.1);
  t.equal(at(500, 500, 0.5), HOUR, 'what the rate never reaches waits for the next window');
  t.end();
});

t.test('a shortage says whose budget it is, of what, and when there is room', (t) => {
  const at = Date.parse('2026-03-04T05:06:07Z');
  const full = { spent: tokens(100), held: NONE };
  const day = { per: 'day', resetMs: 0, caps: caps({ tokens: 100 }) } as const;
  const thread = { scope: 'thread', name: 'review' } as const;
  t.same(shortageOf(thread, day, full, tokens(1), null, at), {
    untilMs: Date.parse('2026-03-05T00:00:00Z'),
    sooner: false,
    reason:
      'the budget of thread review of 100 tokens per day has no room for another model call before 2026-03-05T00:00:00Z',
  });
  const ever = { per: 'lifetime', caps: caps({ cost_micros: 2_500_000 }) } as const;
  const spent = { spent: { ...NONE, cost_micros: 2_400_000 }, held: NONE };
  t.same(
    shortageOf(
      { scope: 'instance', name: '' },
      ever,
      spent,
      { ...tokens(1), cost_micros: 200_000 },
      null,
      at,
    ),
    {
      untilMs: null,
      sooner: false,
      reason: 'the lifetime budget of $2.5 has no room for another model call',
    },
  );
  t.match(shortageOf(thread, day, { spent: tokens(50), held: NONE }, tokens(50), 1, at), {
    reason: /100 tokens per day is paced, and its next model call may go at 2026-03-04T22:48:00Z/,
  });
  t.end();
});

t.test('a cost is exact by class of token, and unknown rather than nothing', (t) => {
  const prices = {
    m: { input: 3, output: 15, cached: 0.3, written: null },
    plain: { input: 0.05, output: 0.4, cached: null, written: null },
    free: { input: 0, output: 0, cached: null, written: null },
  };
  const usage = { input_tokens: 90_010, output_tokens: 20, cached_tokens: 90_000 };
  t.equal(costMicros(prices, ['m'], usage), 30 + 27_000 + 300);
  const dear = { m: { input: 3, output: 15, cached: 0.3, written: 3.75 } };
  const wrote = { ...usage, input_tokens: 90_014, written_tokens: 4 };
  t.equal(
    costMicros(dear, ['m'], wrote),
    30 + 15 + 27_000 + 300,
    'what is written to the cache by its own price',
  );
  t.equal(costMicros(prices, ['m'], wrote), 30 + 12 + 27_000 + 300, 'else as other input');
  t.equal(costMicros(prices, ['plain'], { input_tokens: 10, output_tokens: 0, cached_tokens: 10 }), 1);
  t.equal(
    costMicros(prices, ['plain'], { input_tokens: 9, output_tokens: 0, cached_tokens: 0 }),
    0,
    'rounded once',
  );
  t.equal(costMicros(prices, ['m-2026-01-01', 'm'], usage), 27_330, 'the name that was asked will do');
  t.equal(costMicros(prices, ['free'], usage), 0);
  t.equal(costMicros(prices, ['other'], usage), null);
  t.equal(costMicros(prices, ['toString'], usage), null, 'no name is taken for a price');
  t.equal(
    costMicros(prices, ['m'], { input_tokens: 5, output_tokens: 0, cached_tokens: 50 }),
    2,
    'never negative',
  );
  const config = {
    ...DEFAULTS,
    intelligence: budget({ windows: [window('day', { cost: 1 })] }, { m: prices.m }),
  };
  t.equal(costProblem(config, 'm'), null);
  t.match(
    costProblem(config, 'found-at-start'),
    /nobody knows what found-at-start costs.*intelligence\.prices/,
  );
  t.equal(costProblem(DEFAULTS, 'found-at-start'), null);
  t.end();
});
