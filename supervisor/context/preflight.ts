// A look at a message before its turn: what it is, whether it can be answered or asked back at once, what plan it needs,
// and which model should work on it. It helps and never hinders: whatever fails, the turn runs as it would have.
import type { Clock } from '../../shared/clock.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject } from '../../shared/json.js';
import type { Message } from '../../shared/transcript/message.js';
import type { ResolvedModel } from '../intelligence/resolve-model.js';
import type { InboxRow, TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { isWorthPreflight, type PreflightMode, unfinishedGoal } from './preflight-rule.js';
import { statusReply } from './status-reply.js';
import type { Thinker } from './thinker.js';
import type { RoleKind } from './thoughts.js';
import { type Triaged, triage } from './triage.js';
import type { PlanStep, RouteChoice, Verdict } from './verdict.js';

export type PreflightEvent =
  | 'preflight.start'
  | 'preflight.verdict'
  | 'preflight.failed'
  | 'preflight.route_unsure'
  | 'turn.routed'
  | 'turn.route_removed';

export interface PreflightParts {
  readonly mode: PreflightMode;
  /** Below it a route, and any answer of a decision model, does not count. */
  readonly confidence: number;
  readonly store: Store;
  readonly clock: Clock;
  readonly thinker: Thinker;
  /** What answers for the role: no model that could, one that writes, or one that decides. */
  answers(): RoleKind;
  routes(): readonly RouteChoice[];
  /** Undefined when it was removed since. */
  route(name: string): ResolvedModel | undefined;
  /** What was said in the thread before this turn, oldest first. */
  earlier(turn: TurnAt): readonly Message[];
  /** Writes down a plan. Inside a transaction. */
  seedPlan(turn: TurnAt, goal: string, steps: readonly PlanStep[], nowMs: number): void;
  /** Principals that see the work of everybody. */
  seesAll(principal: string): boolean;
  live(turnId: string, event: { readonly type: 'journal'; readonly event: JournalEvent }): void;
  log(event: PreflightEvent, fields: Record<string, unknown>): void;
}

interface TurnAt {
  readonly turnId: string;
  readonly threadId: string;
}

export type Preflighted =
  | { readonly kind: 'answered'; readonly reply: string }
  | { readonly kind: 'go'; readonly extras: { readonly model?: ResolvedModel } };

const GO: Preflighted = { kind: 'go', extras: {} };

export class Preflight {
  readonly #parts: PreflightParts;

  constructor(parts: PreflightParts) {
    this.#parts = parts;
  }

  /** Null, at once, when this message is not worth a look. Never rejects. */
  before(turn: TurnAt, signal: AbortSignal): Promise<Preflighted> | null {
    const { mode, store, answers } = this.#parts;
    if (mode === 'never' || answers() === 'nobody') return null;
    const message = store.inbox.ofTurn(turn.turnId);
    const row = store.turns.get(turn.turnId);
    // What a turn asks of its own subagent was weighed by the model that asks.
    if (message === undefined || row === undefined || message.producer === 'subagent') return null;
    const plan = (): JsonObject | undefined => store.plans.get(turn.threadId);
    if (!isWorthPreflight(mode, message.text, plan)) return null;
    return this.#look(turn, message, row, signal);
  }

  async #look(turn: TurnAt, message: InboxRow, row: TurnRow, signal: AbortSignal): Promise<Preflighted> {
    const { log } = this.#parts;
    // A turn that names its model keeps it.
    const routes = row.options.model === undefined ? this.#parts.routes() : [];
    log('preflight.start', { turn_id: turn.turnId });
    try {
      const triaged = await this.#triage(turn, message, routes, signal);
      if (signal.aborted) return GO;
      if (!triaged.ok) {
        const { code, message: why } = triaged;
        log('preflight.failed', { turn_id: turn.turnId, code, message: why });
        return GO;
      }
      const { verdict } = triaged;
      if (verdict === null) {
        log('preflight.verdict', { turn_id: turn.turnId, intent: null });
        return GO;
      }
      const { intent, needsPlan, risk } = verdict;
      log('preflight.verdict', { turn_id: turn.turnId, intent, needs_plan: needsPlan, risk });
      return this.#act(turn, message, row, verdict);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log('preflight.failed', { turn_id: turn.turnId, code: 'internal_error', message: why });
      return GO;
    }
  }

  #triage(
    turn: TurnAt,
    message: InboxRow,
    routes: readonly RouteChoice[],
    signal: AbortSignal,
  ): Promise<Triaged> {
    const { thinker, store, confidence, answers, earlier } = this.#parts;
    return triage(
      thinker,
      {
        ...turn,
        principal: message.principal,
        text: message.text,
        earlier: earlier(turn),
        goal: unfinishedGoal(store.plans.get(turn.threadId)),
        routes,
        native: answers() === 'decision',
        confidence,
      },
      signal,
    );
  }

  #act(turn: TurnAt, message: InboxRow, row: TurnRow, verdict: Verdict): Preflighted {
    // An answer of ours would not have the form that was asked for.
    if (row.options.output_schema === undefined) {
      const reply = this.#replyOf(turn, message, verdict);
      if (reply !== null) return { kind: 'answered', reply };
    }
    this.#remark(turn, message, verdict);
    const model = this.#routed(turn, verdict);
    return model === undefined ? GO : { kind: 'go', extras: { model } };
  }

  #replyOf(turn: TurnAt, { principal }: InboxRow, { intent, questions }: Verdict): string | null {
    const { store, seesAll } = this.#parts;
    if (intent === 'status') return statusReply(store, { ...turn, principal, seesAll: seesAll(principal) });
    if (intent !== 'clarify' || questions.length === 0) return null;
    const [only, ...others] = questions;
    return others.length === 0
      ? (only ?? null)
      : questions.map((one, index) => `${index + 1}. ${one}`).join('\n');
  }

  /** The plan, and what the model is told of all this, are written down together. */
  #remark(turn: TurnAt, { text }: InboxRow, { needsPlan, plan, intent }: Verdict): void {
    const { store, clock, live, seedPlan } = this.#parts;
    const wanted = needsPlan && store.plans.get(turn.threadId) === undefined;
    const seeded = wanted && plan.length > 0;
    const notes = [
      ...(seeded ? [SEEDED] : wanted ? [WRITE_A_PLAN] : []),
      ...(intent === 'clarify' ? [ASK_FIRST] : []),
    ];
    if (notes.length === 0) return;
    const now = clock.now();
    const events = notes.map((note): JournalEvent => ({ kind: 'note', text: note }));
    store.transact('preflight', () => {
      if (seeded) seedPlan(turn, goalOf(text), plan, now);
      for (const event of events) store.events.append(turn.turnId, turn.threadId, event, now);
    });
    for (const event of events) live(turn.turnId, { type: 'journal', event });
  }

  #routed({ turnId }: TurnAt, { route }: Verdict): ResolvedModel | undefined {
    if (route === null) return undefined;
    const { confidence, log } = this.#parts;
    const fields = { turn_id: turnId, route: route.name };
    if (route.confidence < confidence) {
      log('preflight.route_unsure', { ...fields, confidence: route.confidence });
      return undefined;
    }
    const model = this.#parts.route(route.name);
    log(model === undefined ? 'turn.route_removed' : 'turn.routed', fields);
    return model;
  }
}

const SEEDED =
  'A first plan for this message was written down before you began. Read it with plan.get, correct it where you know better, and keep it up to date with plan.update as you work.';
const WRITE_A_PLAN =
  'This message calls for work of several steps, and there is no plan yet: write one with plan.create before you begin.';
const ASK_FIRST =
  'This message may not be clear enough to act on: if something that matters is missing, ask for it instead of guessing.';

const GOAL_CHARS = 500;

function goalOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= GOAL_CHARS ? line : `${line.slice(0, GOAL_CHARS)}…`;
}
