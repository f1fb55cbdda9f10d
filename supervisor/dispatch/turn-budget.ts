// The budget side of one worker: answers it before each model call, and settles each call with the
// record of what it used. It decides nothing; the governor does.
import type { Clock } from '../../shared/clock.js';
import { outputAllowance } from '../../shared/ipc/output-room.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { ModelSettings, TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { Usage } from '../../shared/transcript/usage.js';
import type { Estimate, Governor, Spender } from '../budgets/governor.js';
import type { Store } from '../store/types.js';
import type { LiveListener } from '../tools/running-turn.js';

type BudgetAnswer = Extract<ToWorker, { type: 'budget_answer' }>['answer'];
type UsageEvent = Extract<JournalEvent, { kind: 'usage' }>;

export interface BudgetPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly governor: Governor;
  readonly live: LiveListener;
  /** Something that was held back is free again: others may go. */
  readonly budgetFreed: () => void;
  log(event: 'budget.wait' | 'budget.stop' | 'budget.degraded', fields: Record<string, unknown>): void;
}

/** A worker asks again at the latest after this long, so that a clock that was set is noticed. */
const WAIT_MAX_MS = 60_000;
/** How soon it asks again for what others hold. */
const WAIT_SHARED_MS = 1_000;

/** What one call of this model may take: the request, and its answer. */
export function estimateOf(settings: ModelSettings, totalTokens: number): Estimate {
  const outputTokens = Math.min(totalTokens, outputAllowance(settings));
  return { model: settings.model, inputTokens: totalTokens - outputTokens, outputTokens };
}

export class TurnBudget {
  readonly #ports: BudgetPorts;
  readonly #spender: Spender;
  readonly #settings: ModelSettings;
  readonly #fallbacks: readonly ModelSettings[];
  #askedSinceMs: number | null = null;
  /** What was told last of a wait that goes on; undefined outside of one. */
  #toldUntilMs: number | null | undefined;

  constructor(
    ports: BudgetPorts,
    spender: Spender,
    { model, fallbacks = [] }: Pick<TurnSnapshot, 'model' | 'fallbacks'>,
  ) {
    this.#ports = ports;
    this.#spender = spender;
    this.#settings = model;
    this.#fallbacks = fallbacks;
  }

  /** Whether the call may go out; `model` where it goes to a fallback. What a `go` holds back is durable before the worker hears of it. */
  answer(totalTokens: number, callIndex: number, model?: string): BudgetAnswer {
    const { store, clock, governor } = this.#ports;
    const now = clock.now();
    const asked = this.#fallbacks.find((settings) => settings.model === model) ?? this.#settings;
    const estimate = estimateOf(asked, Math.ceil(totalTokens));
    this.#askedSinceMs ??= now;
    const admission = governor.admit(this.#spender, estimate, this.#askedSinceMs, now);
    if (admission.kind === 'go') {
      this.#askedSinceMs = null;
      this.#toldUntilMs = undefined;
      if (governor.active)
        store.transact('reserve_call', () =>
          governor.reserve(this.#spender, estimate, callIndex, admission.degraded, now),
        );
      if (admission.degraded === null) return { kind: 'go' };
      this.#log('budget.degraded', { model: admission.degraded });
      return { kind: 'go', model: admission.degraded };
    }
    this.#giveWay();
    if (admission.kind === 'stop') {
      const { code, reason } = admission;
      this.#log('budget.stop', { code, reason });
      return { kind: 'stop', code, reason };
    }
    const { untilMs, sooner } = admission;
    this.#tellWait(untilMs);
    const leftMs = untilMs === null ? WAIT_MAX_MS : Math.max(0, untilMs - now);
    return { kind: 'wait', wait_ms: Math.min(leftMs, sooner ? WAIT_SHARED_MS : WAIT_MAX_MS) };
  }

  /** The usage of a call as it is journaled, with its cost where a price is known. */
  priced(callIndex: number, model: string, usage: Usage, asked = this.#settings.model): UsageEvent {
    const { governor } = this.#ports;
    return pricedUsage(governor, this.#spender, asked, { callIndex, model, usage });
  }

  /** Records and counts a call. Inside the transaction that journals it. */
  settle(event: UsageEvent): void {
    const { store, clock, governor } = this.#ports;
    settleUsage(store, governor, this.#spender, event, clock.now());
  }

  /** After `settle` is committed. */
  settled(): void {
    if (this.#ports.governor.active) this.#ports.budgetFreed();
  }

  /** A call that has to wait holds nothing: two that wait for each other would wait for ever. */
  #giveWay(): void {
    const { store, governor, budgetFreed } = this.#ports;
    const { turnId, purpose } = this.#spender;
    if (governor.held(turnId, purpose) === undefined) return;
    store.transact('reserve_call', () => governor.release(turnId, purpose));
    budgetFreed();
  }

  #tellWait(untilMs: number | null): void {
    if (untilMs === this.#toldUntilMs) return;
    this.#toldUntilMs = untilMs;
    this.#ports.live(this.#spender.turnId, { type: 'budget_wait', until_ms: untilMs });
    this.#log('budget.wait', { until_ms: untilMs });
  }

  #log(event: 'budget.wait' | 'budget.stop' | 'budget.degraded', fields: Record<string, unknown>): void {
    this.#ports.log(event, { turn_id: this.#spender.turnId, ...fields });
  }
}

/** `asked` is the model that was asked, where nothing that was held back says so. */
export function pricedUsage(
  governor: Governor,
  { turnId, purpose }: Spender,
  asked: string,
  call: { readonly callIndex: number; readonly model: string; readonly usage: Usage },
): UsageEvent {
  const { callIndex, model, usage } = call;
  const cost = governor.cost([model, governor.held(turnId, purpose)?.model ?? asked], usage);
  const whose = purpose === 'turn' ? {} : { purpose };
  const event = { kind: 'usage', call_index: callIndex, model, usage, ...whose } as const;
  return cost === null ? event : { ...event, cost_micros: cost };
}

/** The row of the call and the books of its payers, together. Inside a transaction. */
export function settleUsage(
  store: Store,
  governor: Governor,
  spender: Spender,
  event: UsageEvent,
  nowMs: number,
): void {
  const { call_index, model, usage, cost_micros = null } = event;
  store.usage.record(spender.turnId, call_index, model, usage, nowMs, cost_micros, spender.purpose);
  governor.charge(spender, usage, cost_micros, nowMs);
}
