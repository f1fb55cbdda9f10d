// Folds the older part of a thread into its summary: plan, summarise, apply. The events stay in the journal; what
// changes is where the cut is. One compaction of a thread at a time, and whoever asks meanwhile gets the same one.
import type { Clock } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import type { JsonObject } from '../../shared/json.js';
import { estimateMessages, estimateTokens } from '../../shared/transcript/estimate-tokens.js';
import { LONG_MESSAGE_CHARS, messageArtifactName } from '../../shared/transcript/long-message.js';
import type { Message } from '../../shared/transcript/message.js';
import { EMPTY_SUMMARY, readSummary, type SummaryBlock } from '../../shared/transcript/summary.js';
import type { Cut, EventRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { type Plan, planCompaction } from './compact-plan.js';
import { verdictOf, withFacts, withoutVerdict, withVerdict } from './summary-merge.js';
import {
  foldedLines,
  piecesOf,
  SUMMARY_DEADLINE_MS,
  SUMMARY_OUTPUT_TOKENS,
  SUMMARY_SCHEMA,
  summaryPrompt,
  summaryQuestion,
} from './summary-request.js';
import type { Thinker } from './thinker.js';

/** What a model would be shown of a thread, as if `folded` were its summary. */
export type View = (query: {
  readonly threadId: string;
  readonly turnId: string;
  readonly roomTokens?: number;
  readonly fit?: boolean;
  readonly folded?: { readonly summary: SummaryBlock; readonly cutSeq: number };
}) => Message[];

export interface CompactionParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Null: nobody summarises, and every compaction is a degraded one. */
  readonly thinker: Thinker | null;
  readonly view: View;
  /** Messages that stay word for word. */
  readonly keepLast: number;
  /** The operator's guidance for the summary; null for ours. */
  readonly prompt: string | null;
  /** Window of the summarising model. */
  summaryWindow(): number;
  /** What people who watch the thread see. */
  tell(turnId: string, event: CompactionEvent): void;
  log(event: CompactionLog, fields: Record<string, unknown>): void;
}

export type CompactionLog = 'context.compacted' | 'context.not_compacted' | 'context.summary_failed';

export type CompactionEvent =
  | { readonly type: 'compaction'; readonly phase: 'started' }
  | {
      readonly type: 'compaction';
      readonly phase: 'done';
      readonly folded: number;
      readonly before_tokens: number;
      readonly after_tokens: number;
    }
  | { readonly type: 'compaction'; readonly phase: 'nothing'; readonly problem: string };

/** For which turn; `atWork` when that turn has not ended. */
export interface CompactionTurn {
  readonly turnId: string;
  readonly threadId: string;
  readonly atWork: boolean;
}

export type Compacted =
  | { readonly kind: 'done'; readonly folded: number; readonly tokens: number }
  | { readonly kind: 'nothing'; readonly problem: string };

/** One that gains less is not worth what it loses, and would come again at once. */
const SHRINK_TO = 0.9;
/** Of the room, what the messages that stay may take. */
const KEEP_SHARE = 0.4;
/** A summary that is longer than what it stands for is cut to this. */
const SHORT_NARRATIVE = 1_000;

interface Base {
  readonly revision: number;
  readonly summary: SummaryBlock;
  readonly cut: Cut | null;
}

export class Compactor {
  readonly #parts: CompactionParts;
  readonly #inFlight = new Map<string, Promise<Compacted>>();

  constructor(parts: CompactionParts) {
    this.#parts = parts;
  }

  /** Never rejects for what a model does. A second call for the thread joins the first. */
  compact(turn: CompactionTurn, roomTokens: number, signal: AbortSignal): Promise<Compacted> {
    const running = this.#inFlight.get(turn.threadId);
    if (running !== undefined) return running;
    const done = this.#compact(turn, roomTokens, signal).finally(() => this.#inFlight.delete(turn.threadId));
    this.#inFlight.set(turn.threadId, done);
    return done;
  }

  async #compact(turn: CompactionTurn, roomTokens: number, signal: AbortSignal): Promise<Compacted> {
    const base = this.#base(turn.threadId);
    const plan = this.#plan(turn, base, roomTokens);
    if (plan === null) return nothing('there is nothing older to fold');
    const { turnId, threadId } = turn;
    const before = estimateMessages(this.#parts.view({ turnId, threadId, roomTokens, fit: false }));
    const facts = withFacts(base.summary, plan.fold, this.#planOf(turn.threadId));
    const size = (summary: SummaryBlock): number => this.#size(turn, summary, plan, roomTokens);
    if (size(bare(facts)) > SHRINK_TO * before)
      return this.#tell(turn, nothing('what must stay takes nearly all of it'));
    this.#parts.tell(turn.turnId, { type: 'compaction', phase: 'started' });
    const written = await this.#summarise(turn, facts, plan.fold, signal);
    if (written === null) return this.#tell(turn, nothing('it was called off'));
    const summary = [written, shortened(written), bare(facts)].find(
      (candidate) => size(candidate) <= SHRINK_TO * before,
    );
    if (summary === undefined) return this.#tell(turn, nothing('the summary is not shorter'));
    if (!this.#apply(turn, base, plan, summary))
      return this.#tell(turn, nothing('the conversation changed meanwhile'));
    const tokens = size(summary);
    this.#parts.tell(turn.turnId, {
      type: 'compaction',
      phase: 'done',
      folded: plan.fold.length,
      before_tokens: before,
      after_tokens: tokens,
    });
    this.#parts.log('context.compacted', {
      thread_id: turn.threadId,
      turn_id: turn.turnId,
      folded: plan.fold.length,
      before_tokens: before,
      after_tokens: tokens,
      degraded: summary.degraded,
    });
    return { kind: 'done', folded: plan.fold.length, tokens };
  }

  /** Keeps a message that is too long to be shown as an artifact, once. */
  keepWhole(turnId: string, threadId: string, text: string): void {
    const { store, clock } = this.#parts;
    const name = messageArtifactName(turnId);
    if (text.length <= LONG_MESSAGE_CHARS || store.artifacts.list(threadId, name, 1).length > 0) return;
    const now = clock.now();
    store.transact('compact', () =>
      store.artifacts.create(Buffer.from(text), {
        artifact_id: newId('artifact', now),
        thread_id: threadId,
        turn_id: turnId,
        name,
        mime: 'text/plain',
        created_at_ms: now,
      }),
    );
  }

  #base(threadId: string): Base {
    const row = this.#parts.store.summaries.get(threadId);
    if (row === undefined) return { revision: 0, summary: EMPTY_SUMMARY, cut: null };
    const summary = readSummary(row.summary);
    return { revision: row.revision, summary, cut: { turnId: summary.through_turn, seq: row.upto_seq } };
  }

  #plan({ threadId, turnId, atWork }: CompactionTurn, { cut }: Base, roomTokens: number): Plan | null {
    const { store, keepLast } = this.#parts;
    const behind = (row: EventRow): boolean =>
      cut === null || row.turn_id !== cut.turnId || row.seq > cut.seq;
    return planCompaction({
      rows: store.events.shown(threadId, turnId, cut).filter(behind),
      currentTurnId: atWork ? turnId : null,
      keepLast,
      keepTokens: Math.floor(roomTokens * KEEP_SHARE),
      mayFoldThrough: (through) => !store.turns.hasOpenBefore(through, turnId),
    });
  }

  #planOf(threadId: string): JsonObject | null {
    return this.#parts.store.plans.get(threadId) ?? null;
  }

  /** What would be shown afterwards, with nothing shortened but the summary itself. */
  #size({ threadId, turnId }: CompactionTurn, summary: SummaryBlock, plan: Plan, roomTokens: number): number {
    const folded = { summary, cutSeq: plan.through.seq };
    return estimateMessages(this.#parts.view({ threadId, turnId, folded, roomTokens }));
  }

  /** The summary with the folded part in it; null when it was called off. */
  async #summarise(
    turn: CompactionTurn,
    facts: SummaryBlock,
    fold: readonly EventRow[],
    signal: AbortSignal,
  ): Promise<SummaryBlock | null> {
    const { thinker, prompt, store } = this.#parts;
    if (thinker === null) return withoutVerdict(facts, foldedLines(fold));
    const system = summaryPrompt(prompt);
    const pieces = piecesOf(fold, this.#parts.summaryWindow(), estimateTokens(system));
    let summary = facts;
    for (const [index, piece] of pieces.entries()) {
      const result = await thinker.think(
        {
          purpose: 'compaction',
          turnId: turn.turnId,
          threadId: turn.threadId,
          principal: store.inbox.ofTurn(turn.turnId)?.principal ?? '',
          system_prompt: system,
          messages: [{ role: 'user', text: summaryQuestion(summary, piece) }],
          output_schema: SUMMARY_SCHEMA,
          max_output_tokens: SUMMARY_OUTPUT_TOKENS,
          deadline_ms: SUMMARY_DEADLINE_MS,
        },
        signal,
      );
      if (signal.aborted) return null;
      const verdict = result.ok ? verdictOf(result.value) : null;
      if (verdict === null) {
        const why = result.ok ? 'the answer is no summary' : `${result.code}: ${result.message}`;
        this.#parts.log('context.summary_failed', { thread_id: turn.threadId, message: why });
        return withoutVerdict(summary, pieces.slice(index).flat());
      }
      summary = withVerdict(summary, verdict);
    }
    return summary;
  }

  /** True when it is the summary from now on: nobody changed it, or what it stands for, while it was written. */
  #apply({ threadId, turnId }: CompactionTurn, base: Base, plan: Plan, summary: SummaryBlock): boolean {
    const { store, clock } = this.#parts;
    return store.transact('compact', () => {
      if (store.turns.hasOpenBefore(plan.through.turnId, turnId)) return false;
      const stored = summary as unknown as JsonObject;
      return store.summaries.replace(threadId, base.revision, plan.through.seq, stored, clock.now());
    });
  }

  #tell(turn: CompactionTurn, compacted: Extract<Compacted, { kind: 'nothing' }>): Compacted {
    const { problem } = compacted;
    this.#parts.tell(turn.turnId, { type: 'compaction', phase: 'nothing', problem });
    this.#parts.log('context.not_compacted', { thread_id: turn.threadId, turn_id: turn.turnId, problem });
    return compacted;
  }
}

function nothing(problem: string): Extract<Compacted, { kind: 'nothing' }> {
  return { kind: 'nothing', problem };
}

function shortened(summary: SummaryBlock): SummaryBlock {
  const few = (entries: readonly string[]): string[] => entries.slice(-8).map((entry) => entry.slice(0, 200));
  const { goals, decisions, open, facts, narrative } = summary;
  return {
    ...summary,
    goals: few(goals),
    decisions: few(decisions),
    open: few(open),
    facts: few(facts),
    narrative: narrative.slice(0, SHORT_NARRATIVE),
  };
}

/** Only what is carried word for word. */
function bare(summary: SummaryBlock): SummaryBlock {
  return { ...summary, goals: [], decisions: [], open: [], facts: [], narrative: '' };
}
