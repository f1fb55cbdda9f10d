// The part of the configuration that says what model calls may spend, and what they cost.
import * as v from 'valibot';
import { amount, choice, count, duration, group, type Leaf, list, optional, text } from './leaf.js';
import { type RecordOf, records } from './records.js';

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

export const modelName = (description: string): Leaf<string> =>
  text(description, {
    max: 200,
    pattern: /^\S+$/,
    expected: 'expected a model name, without spaces',
  });

const TOKENS = { min: 1, max: 1_000_000_000_000 };
const DOLLARS = { min: 0.000_001, max: 1_000_000_000 };
const tokenCap = optional(count('Input and output tokens together.', TOKENS));
const costCap = optional(amount('US dollars.', DOLLARS));

const WINDOW = {
  per: choice('Length. Windows start at whole units of UTC, weeks on Monday.', [
    'second',
    'minute',
    'hour',
    'day',
    'week',
  ]),
  tokens: tokenCap,
  requests: optional(count('Model calls.', TOKENS)),
  cost: costCap,
  reset: optional(
    text('Time of day in UTC at which a day or a week starts, such as 04:30Z.', {
      max: 6,
      pattern: /^(?:[01]\d|2[0-3]):[0-5]\dZ$/,
      expected: 'expected a time of day in UTC such as "04:30Z"',
    }),
  ),
};
export type BudgetWindow = RecordOf<typeof WINDOW>;

const MILLION_PRICE = { min: 0, max: 1_000_000 };
export const PRICE = {
  input: amount('US dollars for a million input tokens.', MILLION_PRICE),
  output: amount('US dollars for a million output tokens.', MILLION_PRICE),
  cached: optional(
    amount('US dollars for a million input tokens from the cache; absent: as much as others.', MILLION_PRICE),
  ),
  written: optional(
    amount(
      'US dollars for a million input tokens written to the cache; absent: as much as others.',
      MILLION_PRICE,
    ),
  ),
};
export type ModelPrice = RecordOf<typeof PRICE>;

const SCOPES = ['instance', 'thread', 'principal'] as const;
export type BudgetScope = (typeof SCOPES)[number];

export const budget = group('What model calls may spend. Without windows and lifetime nothing is capped.', {
  windows: records(
    'Caps within a second, minute, hour, day or week: a list of {per, tokens, requests, cost, reset}.',
    WINDOW,
  ),
  lifetime: group('Caps of all that a state directory ever spends.', { tokens: tokenCap, cost: costCap }),
  scope: list(
    'For whom each cap counts: the instance, each thread, each principal.',
    v.picklist(SCOPES, `expected ${SCOPES.join(', ')}`),
  ),
  on_exhausted: choice(
    'What happens to a turn or call that a cap has no room for: it waits, is paced from the start, uses a cheaper model, is refused, or fails.',
    ['wait', 'slow', 'degrade', 'refuse', 'fail'],
  ),
  slow_factor: amount('The share of its even rate to which `slow` paces a window.', { min: 0.01, max: 1 }),
  degrade_model: optional(
    modelName('The cheaper model of `degrade`; what it spends counts for lifetime only.'),
  ),
  max_wait: optional(
    duration('Longest wait for a budget; a longer one ends the turn. Absent: as long as it takes.', {
      min: SECOND,
      max: 30 * DAY,
    }),
  ),
});
