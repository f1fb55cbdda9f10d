// What the supervisor holds in memory about a turn while a worker has it. Nothing here outlives the turn; what must
// survive is in the store.
import { strict as assert } from 'node:assert';
import type { Clock } from '../../shared/clock.js';
import type { ProgressEvent } from '../../shared/ipc/progress.js';
import type { TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { Masker } from '../../shared/mask.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { WaitRow } from '../store/rows.js';
import type { Store, TransactionName } from '../store/types.js';
import type { WaitingTool } from './waiting-tool.js';

/** What people who watch a turn get to see as it happens. */
export type LiveEvent =
  | { readonly type: 'journal'; readonly event: JournalEvent }
  | { readonly type: 'progress'; readonly progress: ProgressEvent }
  /** The turn, or its next model call, waits for a budget; until when (wall time), where that is known. */
  | { readonly type: 'budget_wait'; readonly until_ms: number | null }
  | CompactionEvent;

/** The older part of the turn's thread is being summarised, was, or could not be. */
type CompactionEvent =
  | { readonly type: 'compaction'; readonly phase: 'started' }
  | {
      readonly type: 'compaction';
      readonly phase: 'done';
      /** Journal events. */
      readonly folded: number;
      /** Of what a model is shown, by our estimate. */
      readonly before_tokens: number;
      readonly after_tokens: number;
    }
  | { readonly type: 'compaction'; readonly phase: 'nothing'; readonly problem: string };

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

/** Events whose commit nobody waits for, and what changes with them. */
export interface Unwritten {
  readonly events: readonly JournalEvent[];
  /** Runs inside the transaction. */
  readonly beside: () => void;
  /** Runs once it is committed. */
  readonly after: () => void;
}

/** Where calls wait that cannot be answered at once. */
export interface WaitDesk {
  tool(name: string): WaitingTool | undefined;
  /** After the wait is written down. `deliver` gets what is answered while the worker lives. */
  opened(row: WaitRow, turn: RunningTurn, deliver: (result: ToolResult) => void): void;
}

export interface RunningTurn {
  readonly turnId: string;
  readonly threadId: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly masker: Masker;
  readonly snapshot: TurnSnapshot;
  readonly ask: Ask;
  readonly live: LiveListener;
  readonly waits: WaitDesk;
  /** A call of it began to wait. */
  readonly waited: () => void;
  /** A step of it could not be written down. */
  readonly broken: (error: unknown) => void;
  /** Calls that were granted and have not reported yet: wire id → call. */
  readonly granted: Map<number, { readonly callId: string; readonly tool: string }>;
  /** Told by the worker and not written yet; it goes out with the next write, at the latest in this turn of the loop. */
  readonly unwritten: Unwritten[];
  rounds: number;
  toolCalls: number;
  modelCalls: number;
  /** A model call went out and no usage came back yet: charged at its estimate if it never does. */
  modelCallOpen: boolean;
  /** Set by the first reason to end; from then on no call is granted. */
  ending: boolean;
  /** Its window is over: every call has what it will have, and nothing more is written. */
  closed: boolean;
}

const nothing = (): void => undefined;

/**
 * Writes journal events in one transaction, `beside` with them and everything unwritten before them, then tells those
 * who watch. When it returns, all of it is durable.
 */
export function journal(
  turn: RunningTurn,
  name: TransactionName,
  events: readonly JournalEvent[],
  beside: () => void = nothing,
): void {
  assert(events.length > 0, 'nothing to journal');
  write(turn, name, [...turn.unwritten.splice(0), { events, beside, after: nothing }]);
}

/** Leaves events to the next write: an answer of a model, its numbers and its first call make one commit, not three. */
export function journalSoon(turn: RunningTurn, unwritten: Unwritten): void {
  turn.unwritten.push(unwritten);
}

/** Writes what is unwritten. Nothing that outlives the worker's frames may be decided on less. */
export function flushJournal(turn: RunningTurn): void {
  if (turn.unwritten.length > 0) write(turn, 'record_progress', turn.unwritten.splice(0));
}

/** For a transaction of somebody else: writes what is unwritten when called inside it, and tells of it afterwards. */
export function unwrittenOf(turn: RunningTurn): { readonly inside: () => void; readonly after: () => void } {
  const parts = turn.unwritten.splice(0);
  let written: readonly JournalEvent[] = [];
  return {
    inside: () => {
      written = append(turn, parts);
    },
    after: () => tell(turn, parts, written),
  };
}

function write(turn: RunningTurn, name: TransactionName, parts: readonly Unwritten[]): void {
  const written = turn.store.transact(name, () => append(turn, parts));
  tell(turn, parts, written);
}

function append(turn: RunningTurn, parts: readonly Unwritten[]): JournalEvent[] {
  const written: JournalEvent[] = [];
  const now = turn.clock.now();
  for (const { events, beside } of parts) {
    beside();
    for (const event of events) {
      const kept = turn.masker.kept(event as never) as JournalEvent;
      turn.store.events.append(turn.turnId, turn.threadId, kept, now);
      written.push(kept);
    }
  }
  return written;
}

function tell(turn: RunningTurn, parts: readonly Unwritten[], written: readonly JournalEvent[]): void {
  for (const { after } of parts) after();
  for (const event of written) turn.live(turn.turnId, { type: 'journal', event });
}
