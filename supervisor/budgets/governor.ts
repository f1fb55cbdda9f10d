// Says whether a model call may be made now, and keeps the books: what is held back for calls under way, and what was
// spent. Everything it knows is in the store, so a restart forgets nothing; it has no timers and waits for nobody.
import type { BudgetWindow } from '../../config/budget-schema.js';
import type { Config } from '../../config/schema.js';
import type { Usage } from '../../shared/transcript/usage.js';
import type { Held, Payer, Purpose, ReservationRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { costMicros } from './prices.js';
import { type Asked, type Purse, payerKey, payersOf, type Shortage, shortageOf } from './purses.js';
import { resetOf, type Span, windowAt } from './windows.js';

/** Who makes a call. */
export interface Spender {
  readonly turnId: string;
  readonly threadId: string;
  readonly principal: string;
  readonly purpose: Purpose;
}

/** What a call may take at most, as far as it can be known before. */
export interface Estimate {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Why a turn or a call is not let go on. `failed`: the operator wants such a turn to fail before it starts. */
export interface Stop {
  readonly kind: 'stop';
  readonly code: 'refused' | 'exhausted_tokens';
  readonly failed: boolean;
  readonly reason: string;
}

export type Admission =
  /** `degraded` names the cheaper model that must be used; null leaves the model as it is. */
  | { readonly kind: 'go'; readonly degraded: string | null }
  /** `untilMs` is wall time; null when no window brings room. `sooner`: others may turn out to need less. */
  | { readonly kind: 'wait'; readonly untilMs: number | null; readonly sooner: boolean }
  | Stop;

const NOTHING: Held = { tokens: 0, requests: 0, cost_micros: 0 };
const GO: Admission = { kind: 'go', degraded: null };

export function spenderOf(
  store: Store,
  turnId: string,
  threadId: string,
  purpose: Purpose = 'turn',
): Spender {
  return { turnId, threadId, principal: store.inbox.ofTurn(turnId)?.principal ?? '', purpose };
}

export class Governor {
  /** False when nothing is capped: nothing is asked, held back or counted then. */
  readonly active: boolean;
  readonly #store: Store;
  readonly #config: Config['intelligence'];
  readonly #windows: readonly Purse[];
  readonly #lifetime: readonly Purse[];

  constructor(store: Store, config: Config['intelligence']) {
    this.#store = store;
    this.#config = config;
    this.#windows = config.budget.windows.map(purseOf);
    const { tokens, cost } = config.budget.lifetime;
    const capped = tokens !== null || cost !== null;
    this.#lifetime = capped
      ? [{ per: 'lifetime', caps: { tokens, requests: null, cost_micros: micros(cost) } }]
      : [];
    this.active = this.#windows.length + this.#lifetime.length > 0;
  }

  /**
   * Reads only. `sinceMs` is when it was asked for the first time. What the turn itself holds back does not count, for
   * whatever purpose: it makes one call at a time.
   */
  admit(spender: Spender, estimate: Estimate, sinceMs: number, nowMs: number): Admission {
    if (!this.active) return GO;
    const { budget } = this.#config;
    const tactic = budget.on_exhausted;
    const within = this.#shortage(this.#windows, spender, this.#ask(estimate), nowMs);
    const degraded = within !== null && tactic === 'degrade' ? budget.degrade_model : null;
    const asked = this.#ask(degraded === null ? estimate : { ...estimate, model: degraded });
    const ever = this.#shortage(this.#lifetime, spender, asked, nowMs);
    const lacking = ever ?? (degraded === null ? within : null);
    if (lacking === null) return { kind: 'go', degraded };
    const code = tactic === 'refuse' ? 'refused' : 'exhausted_tokens';
    const stop = (reason: string): Stop => ({ kind: 'stop', code, failed: tactic === 'fail', reason });
    if (tactic === 'refuse' || tactic === 'fail') return stop(lacking.reason);
    if (ever !== null && !ever.sooner) return stop(ever.reason);
    const untilMs = ever === null ? lacking.untilMs : null;
    const lastMs = budget.max_wait_ms === null ? null : sinceMs + budget.max_wait_ms;
    if (lastMs !== null && (nowMs >= lastMs || (untilMs !== null && !lacking.sooner && untilMs > lastMs)))
      return stop(`${lacking.reason}, which is longer than intelligence.budget.max_wait allows`);
    return { kind: 'wait', untilMs: earlier(untilMs, lastMs), sooner: lacking.sooner };
  }

  /** Holds back what was admitted, in place of what the turn held for this purpose before. Inside the transaction that lets it go. */
  reserve(
    spender: Spender,
    estimate: Estimate,
    callIndex: number | null,
    degraded: string | null,
    nowMs: number,
  ): void {
    if (!this.active) return;
    const model = degraded ?? estimate.model;
    this.#store.reservations.put({
      turn_id: spender.turnId,
      purpose: spender.purpose,
      thread_id: spender.threadId,
      principal: spender.principal,
      call_index: callIndex,
      model,
      degraded: degraded !== null,
      input_tokens: estimate.inputTokens,
      output_tokens: estimate.outputTokens,
      cost_micros: this.#ask({ ...estimate, model }).cost_micros,
      at_ms: nowMs,
    });
  }

  /** What the turn holds back for this purpose; undefined when it holds nothing. */
  held(turnId: string, purpose: Purpose = 'turn'): ReservationRow | undefined {
    return this.active ? this.#store.reservations.get(turnId, purpose) : undefined;
  }

  /** Millionths of a US dollar; null when nobody knows the price. `models`: as it was answered, then as asked for. */
  cost(models: readonly string[], usage: Usage): number | null {
    return costMicros(this.#config.prices, models, usage);
  }

  /**
   * Counts one call that was made, and gives back what was held for it. It counts for the window in which it was let
   * go, however long it took and whatever the clock did since. Inside the transaction that records its usage.
   */
  charge(spender: Spender, usage: Usage, costMicros: number | null, nowMs: number): void {
    if (!this.active) return;
    const held = this.held(spender.turnId, spender.purpose);
    const amounts = {
      tokens: usage.input_tokens + usage.output_tokens,
      requests: 1,
      cost_micros: costMicros ?? 0,
    };
    const purses = held?.degraded ? this.#lifetime : [...this.#windows, ...this.#lifetime];
    for (const payer of payersOf(this.#config.budget.scope, spender))
      for (const purse of purses) this.#spend(payer, purse, amounts, held?.at_ms ?? nowMs);
    this.release(spender.turnId, spender.purpose);
  }

  /** Gives back what the turn held for a call that is not made. Inside a transaction. */
  release(turnId: string, purpose: Purpose = 'turn'): void {
    if (this.active) this.#store.reservations.remove(turnId, purpose);
  }

  #spend(payer: Payer, purse: Purse, amounts: Held, atMs: number): void {
    const { spending } = this.#store;
    const key = payerKey(payer);
    const { startsAtMs } = spanOf(purse, atMs);
    const at = { payer: key, per: purse.per, starts_at_ms: startsAtMs };
    if (spending.get(key, purse.per, startsAtMs) === undefined) spending.open({ ...amounts, ...at });
    else spending.add({ ...amounts, ...at });
  }

  /** The worst of what is lacking; null when there is room everywhere. */
  #shortage(purses: readonly Purse[], spender: Spender, ask: Asked, nowMs: number): Shortage | null {
    const { spending, reservations } = this.#store;
    const { scope, on_exhausted: tactic, slow_factor } = this.#config.budget;
    let worst: Shortage | null = null;
    for (const payer of payersOf(scope, spender)) {
      const key = payerKey(payer);
      for (const purse of purses) {
        const { startsAtMs, endsAtMs } = spanOf(purse, nowMs);
        const books = {
          spent: spending.get(key, purse.per, startsAtMs) ?? NOTHING,
          held: reservations.held({
            payer,
            exceptTurnId: spender.turnId,
            withDegraded: purse.per === 'lifetime',
            fromMs: startsAtMs,
            beforeMs: endsAtMs,
          }),
        };
        const factor = tactic === 'slow' ? slow_factor : null;
        const found = shortageOf(payer, purse, books, ask, factor, nowMs);
        if (found !== null) worst = worse(worst, found);
      }
    }
    return worst;
  }

  #ask({ model, inputTokens, outputTokens }: Estimate): Asked {
    const usage = { input_tokens: inputTokens, output_tokens: outputTokens, cached_tokens: 0 };
    // Nobody knows yet what of it goes to the cache, and that may be dearer.
    const costs = [usage, { ...usage, written_tokens: inputTokens }].map(
      (tokens) => costMicros(this.#config.prices, [model], tokens) ?? 0,
    );
    return {
      tokens: inputTokens + outputTokens,
      requests: 1,
      cost_micros: Math.max(...costs),
    };
  }
}

function purseOf({ per, reset, tokens, requests, cost }: BudgetWindow): Purse {
  return { per, resetMs: resetOf(reset), caps: { tokens, requests, cost_micros: micros(cost) } };
}

function micros(dollars: number | null): number | null {
  return dollars === null ? null : Math.max(1, Math.round(dollars * 1_000_000));
}

function spanOf(purse: Purse, nowMs: number): Span {
  if (purse.per !== 'lifetime') return windowAt(purse.per, purse.resetMs, nowMs);
  return { startsAtMs: 0, endsAtMs: Number.MAX_SAFE_INTEGER };
}

function worse(left: Shortage | null, right: Shortage): Shortage {
  if (left === null) return right;
  if (left.sooner !== right.sooner) return left.sooner ? right : left;
  return (left.untilMs ?? Number.POSITIVE_INFINITY) >= (right.untilMs ?? Number.POSITIVE_INFINITY)
    ? left
    : right;
}

function earlier(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}
