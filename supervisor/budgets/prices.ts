// What tokens cost. Pure. A price per million tokens in dollars is the price of one token in millionths of a dollar,
// so costs are whole millionths, rounded once per call.
import type { ModelPrice } from '../../config/budget-schema.js';
import type { Config } from '../../config/schema.js';
import type { Usage } from '../../shared/transcript/usage.js';

export type Prices = Readonly<Record<string, ModelPrice>>;

type Tokens = Pick<Usage, 'input_tokens' | 'output_tokens' | 'cached_tokens' | 'written_tokens'>;

/** The price of the first of these names that has one: the name that a provider answers with may be longer than the one asked for. */
function priceOf(prices: Prices, models: readonly string[]): ModelPrice | undefined {
  const known = models.find((model) => Object.hasOwn(prices, model));
  return known === undefined ? undefined : prices[known];
}

/** Millionths of a US dollar; null when no price is known. */
export function costMicros(prices: Prices, models: readonly string[], tokens: Tokens): number | null {
  const price = priceOf(prices, models);
  if (price === undefined) return null;
  const cached = Math.min(tokens.cached_tokens, tokens.input_tokens);
  const written = Math.min(tokens.written_tokens ?? 0, tokens.input_tokens - cached);
  const fresh = tokens.input_tokens - cached - written;
  const input =
    fresh * price.input + cached * (price.cached ?? price.input) + written * (price.written ?? price.input);
  return Math.round(input + tokens.output_tokens * price.output);
}

/** Why a budget cannot count the cost of this model; null when it can, or need not. */
export function costProblem({ intelligence }: Config, model: string): string | null {
  const { budget, prices } = intelligence;
  const counted = budget.lifetime.cost !== null || budget.windows.some(({ cost }) => cost !== null);
  if (!counted || priceOf(prices, [model]) !== undefined) return null;
  return `intelligence.budget caps costs, but nobody knows what ${model} costs: give its price in intelligence.prices`;
}
