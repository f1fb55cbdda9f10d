// What the supervisor holds in memory about a turn while a worker has it. Nothing here outlives the turn; what must
// survive is in the store.
import { strict as assert } from 'node:assert';
import type { Clock } from '../../shared/clock.js';
import type { ProgressEvent } from '../../shared/ipc/progress.js';
import type { TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { Masker } from '../../shared/mask.js';
import type { Store, TransactionName } from '../store/types.js';

/** What people who watch a turn get to see as it happens. */
export type LiveEvent =
  | { readonly type: 'journal'; readonly event: JournalEvent }
  | { readonly type: 'progress'; readonly progress: ProgressEvent }
  /** The turn, or its next model call, waits for a budget; until when (wall time), where that is known. */
  | { readonly type: 'budget_wait'; readonly until_ms: number | null };

export type LiveListener = (turnId: string, event: LiveEvent) => void;

/** A call that needs somebody's yes. */
export interface Question {
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string;
  /** The arguments that would run, as canonical JSON. */
  readonly arguments: string;
}

/** Asks whoever can answer; `nobody` when there is no such person. */
export type Ask = (question: Question) => Promise<'allow' | 'deny' | 'nobody'>;

export interface RunningTurn {
  readonly turnId: string;
  readonly threadId: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly masker: Masker;
  readonly snapshot: TurnSnapshot;
  readonly ask: Ask;
  readonly live: LiveListener;
  /** Calls that were granted and have not reported yet: wire id → call. */
  readonly granted: Map<number, { readonly callId: string; readonly tool: string }>;
  rounds: number;
  toolCalls: number;
  modelCalls: number;
  /** A model call went out and no usage came back yet: charged at its estimate if it never does. */
  modelCallOpen: boolean;
  /** Set by the first reason to end; from then on no call is granted. */
  ending: boolean;
}

/** Writes journal events in one transaction (with `more` beside them), then tells those who watch. */
export function journal(
  turn: RunningTurn,
  name: TransactionName,
  events: readonly JournalEvent[],
  more: () => void = () => undefined,
): void {
  assert(events.length > 0, 'nothing to journal');
  const masked = events.map((event) => turn.masker.kept(event as never) as JournalEvent);
  turn.store.transact(name, () => {
    more();
    const now = turn.clock.now();
    for (const event of masked) turn.store.events.append(turn.turnId, turn.threadId, event, now);
  });
  for (const event of masked) turn.live(turn.turnId, { type: 'journal', event });
}
