// One cap for one payer: what it lacks for a call, until when, and how that is said to a person. Pure.
import type { BudgetScope } from '../../config/budget-schema.js';
import type { Held, Payer } from '../store/rows.js';
import {
  type Books,
  type Caps,
  DIMENSIONS,
  type Dimension,
  lackOf,
  type Per,
  pacedAtMs,
  windowAt,
} from './windows.js';

export type Purse =
  | { readonly per: Per; readonly resetMs: number; readonly caps: Caps }
  | { readonly per: 'lifetime'; readonly caps: Caps };

export type Asked = Held;

/** There is no room for a call. */
export interface Shortage {
  /** Wall time at which there will be; null when no time brings it. */
  readonly untilMs: number | null;
  /** Others hold back what is lacking, so it may come sooner. */
  readonly sooner: boolean;
  readonly reason: string;
}

export function payersOf(
  scopes: readonly BudgetScope[],
  who: { readonly threadId: string; readonly principal: string },
): Payer[] {
  const names = { instance: '', thread: who.threadId, principal: who.principal };
  return [...new Set(scopes)].map((scope) => ({ scope, name: names[scope] }));
}

export function payerKey({ scope, name }: Payer): string {
  return scope === 'instance' ? scope : `${scope}:${name}`;
}

/** `factor` paces a window; null lets it be spent at once. */
export function shortageOf(
  payer: Payer,
  purse: Purse,
  books: Books,
  ask: Asked,
  factor: number | null,
  nowMs: number,
): Shortage | null {
  const lack = lackOf(purse.caps, books, ask);
  const whose = payer.scope === 'instance' ? '' : ` of ${payer.scope} ${payer.name}`;
  if (purse.per === 'lifetime') {
    if (lack === null) return null;
    const cap = capText(purse.caps, lack.dimension);
    return {
      untilMs: null,
      sooner: lack.why === 'held',
      reason: `the lifetime budget${whose} of ${cap} has no room for another model call`,
    };
  }
  const span = windowAt(purse.per, purse.resetMs, nowMs);
  const name = `the budget${whose} of`;
  if (lack !== null)
    return {
      untilMs: span.endsAtMs,
      sooner: lack.why === 'held',
      reason: `${name} ${capText(purse.caps, lack.dimension)} per ${purse.per} has no room for another model call before ${timeText(span.endsAtMs)}`,
    };
  if (factor === null) return null;
  const atMs = pacedAtMs(purse.caps, books, ask, span, factor);
  if (atMs <= nowMs) return null;
  return {
    untilMs: atMs,
    sooner: books.held.requests > 0,
    reason: `${name} ${allCaps(purse.caps)} per ${purse.per} is paced, and its next model call may go at ${timeText(atMs)}`,
  };
}

function allCaps(caps: Caps): string {
  return DIMENSIONS.filter((dimension) => caps[dimension] !== null)
    .map((dimension) => capText(caps, dimension))
    .join(', ');
}

function capText(caps: Caps, dimension: Dimension): string {
  const cap = caps[dimension] ?? 0;
  return dimension === 'cost_micros' ? `$${cap / 1_000_000}` : `${cap} ${dimension}`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
