// The books of one thought: each of its model calls is recorded once, on the turn that it was for, under its own
// purpose. A call whose answer never came is charged at what was held for it.
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import { estimateRequest } from '../../shared/transcript/estimate-tokens.js';
import type { Usage } from '../../shared/transcript/usage.js';
import type { Governor, Spender } from '../budgets/governor.js';
import type { ReservationRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { type BudgetPorts, pricedUsage, settleUsage, TurnBudget } from './turn-budget.js';

type BudgetAnswer = Extract<ToWorker, { type: 'budget_answer' }>['answer'];
type UsageEvent = Extract<JournalEvent, { kind: 'usage' }>;

/** Counts its calls from one past the last of the same purpose: a turn may think more than once. */
export class ThoughtAccount {
  readonly #ports: BudgetPorts;
  readonly #spender: Spender;
  readonly #snapshot: TurnSnapshot;
  readonly #budget: TurnBudget;
  readonly #base: number;
  #calls = 0;
  #open = false;

  constructor(ports: BudgetPorts, spender: Spender, snapshot: TurnSnapshot) {
    this.#ports = ports;
    this.#spender = spender;
    this.#snapshot = snapshot;
    this.#budget = new TurnBudget(ports, spender, snapshot);
    this.#base = ports.store.usage.lastCall(spender.turnId, spender.purpose);
  }

  /** `model` where the call goes to a fallback. */
  answer(totalTokens: number, model?: string): BudgetAnswer {
    return this.#budget.answer(totalTokens, this.#base + this.#calls + 1, model);
  }

  /** A request goes out. */
  begun(): void {
    this.#calls += 1;
    this.#open = true;
  }

  /** `asked` where it was a fallback. */
  settle(model: string, usage: Usage, asked?: string): void {
    this.#open = false;
    this.#record(this.#base + this.#calls, model, usage, asked);
  }

  /** Nothing more will come: charges the call that is open, gives back what is held for one that was not made. */
  close(): void {
    const { governor, store, budgetFreed } = this.#ports;
    const { turnId, purpose } = this.#spender;
    const held = governor.held(turnId, purpose);
    if (this.#open) {
      this.#open = false;
      const { system_prompt, messages, tools, model } = this.#snapshot;
      const input = held?.input_tokens ?? estimateRequest(system_prompt, messages, tools);
      const usage = estimated(input, held?.output_tokens ?? 0);
      this.#record(this.#base + this.#calls, held?.model ?? model.model, usage);
    } else if (held !== undefined) {
      store.transact('reserve_call', () => governor.release(turnId, purpose));
      budgetFreed();
    }
  }

  #record(callIndex: number, model: string, usage: Usage, asked = this.#snapshot.model.model): void {
    const { store, governor, clock, live } = this.#ports;
    const event = pricedUsage(governor, this.#spender, asked, {
      callIndex,
      model,
      usage,
    });
    const told = store.transact('record_progress', () =>
      recordThought(store, governor, this.#spender, event, clock.now()),
    );
    this.#budget.settled();
    if (told) live(this.#spender.turnId, { type: 'journal', event });
  }
}

/** What thoughts of a supervisor that was lost held back: each such call may have been answered and billed. In a transaction. */
export function chargeLostThoughts(store: Store, governor: Governor, nowMs: number): void {
  if (!governor.active) return;
  for (const row of store.reservations.all())
    if (row.purpose !== 'turn') chargeLost(store, governor, row, nowMs);
}

function chargeLost(store: Store, governor: Governor, row: ReservationRow, nowMs: number): void {
  const { turn_id: turnId, thread_id: threadId, principal, purpose, call_index: callIndex, model } = row;
  const spender = { turnId, threadId, principal, purpose };
  const call = { callIndex: callIndex ?? 1, model, usage: estimated(row.input_tokens, row.output_tokens) };
  recordThought(store, governor, spender, pricedUsage(governor, spender, model, call), nowMs);
}

/** True when it stands in the journal too: the journal of a turn that ended is closed. */
function recordThought(
  store: Store,
  governor: Governor,
  spender: Spender,
  event: UsageEvent,
  nowMs: number,
): boolean {
  settleUsage(store, governor, spender, event, nowMs);
  if (store.turns.get(spender.turnId)?.state === 'ended') return false;
  store.events.append(spender.turnId, spender.threadId, event, nowMs);
  return true;
}

function estimated(inputTokens: number, outputTokens: number): Usage {
  return { input_tokens: inputTokens, output_tokens: outputTokens, cached_tokens: 0, estimated: true };
}
