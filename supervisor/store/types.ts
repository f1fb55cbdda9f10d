// What the store offers to the rest of the supervisor. One table a file implements it; nobody else sees SQL.
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject } from '../../shared/json.js';
import type { CallState, CallTransition } from '../../shared/machines/call.js';
import type { TurnState, TurnTransition } from '../../shared/machines/turn.js';
import type { Calibration } from '../../shared/transcript/calibration.js';
import type { Usage } from '../../shared/transcript/usage.js';
import type {
  ArtifactRow,
  CallRow,
  Cut,
  EventRow,
  Held,
  HeldQuery,
  InboxRow,
  MemoryRow,
  Purpose,
  ReservationRow,
  SpendingRow,
  SummaryRow,
  ThreadRow,
  TimerRow,
  TurnFields,
  TurnRow,
  WaitRow,
  WorkspaceRow,
} from './rows.js';

/** Every write is one of these; crash tests walk the list. */
export const TRANSACTIONS = [
  'open_thread',
  'accept_message',
  'dispatch_turn',
  'reserve_call',
  'worker_ready',
  'name_snapshot',
  'request_end',
  'record_progress',
  'record_intent',
  'record_result',
  'state_tool',
  'set_switch',
  'fire_timer',
  'answer_wait',
  'requeue_turn',
  'preflight',
  'compact',
  'settle_turn',
  'recover',
] as const;
export type TransactionName = (typeof TRANSACTIONS)[number];

export interface Store {
  /** The state directory: turnd.db, artifacts/, spool/. */
  readonly dir: string;
  /** The one way to change durable state: BEGIN IMMEDIATE … COMMIT around a synchronous body; throws if the body returns a promise. Nesting is an assertion. */
  transact<T>(name: TransactionName, body: () => T): T;
  /** Writes the log back into the database, as the end would: for a moment in which nobody waits. */
  checkpoint(): void;
  /** Marks the end as clean, checkpoints, closes, releases the lock. */
  close(): void;
  /** Wall time of the last write of a predecessor that did not close; null after a clean end or on a fresh store. */
  readonly unclean_since_ms: number | null;

  readonly workspaces: {
    ensure(root: string, nowMs: number): WorkspaceRow;
    get(workspaceId: string): WorkspaceRow | undefined;
    ofRoot(root: string): WorkspaceRow | undefined;
    list(): WorkspaceRow[];
  };
  readonly threads: {
    /** `more` is for a thread that is new. */
    ensure(
      threadId: string,
      workspaceId: string,
      owner: string,
      nowMs: number,
      more?: Partial<Pick<ThreadRow, 'name' | 'mode' | 'parent_turn_id'>>,
    ): ThreadRow;
    get(threadId: string): ThreadRow | undefined;
    /** Conversations of people; those of subagents are found by who started them. */
    list(): ThreadRow[];
    /** Subagents that turns of this thread started, the newest first. */
    startedBy(threadId: string, limit: number): ThreadRow[];
  };
  readonly inbox: {
    insert(row: InboxRow): void;
    get(eventId: string): InboxRow | undefined;
    /** Not done yet, oldest first. */
    pending(): InboxRow[];
    markDone(eventId: string): void;
    ofTurn(turnId: string): InboxRow | undefined;
  };
  readonly turns: {
    insert(
      row: Pick<TurnRow, 'turn_id' | 'thread_id' | 'created_at_ms'> &
        Partial<Pick<TurnRow, 'parent_turn_id' | 'options'>>,
    ): void;
    /** Oldest first. */
    ofParent(turnId: string): TurnRow[];
    /** Turns of subagents that have not ended. */
    openOfSubagents(): number;
    get(turnId: string): TurnRow | undefined;
    /** Newest last. */
    ofThread(threadId: string): TurnRow[];
    /** Whether a turn of the same thread that came before this one has not ended; `exceptTurnId` does not count. */
    hasOpenBefore(turnId: string, exceptTurnId: string): boolean;
    inStates(states: readonly TurnState[]): TurnRow[];
    /** Steps the state machine (an impossible step is an assertion) and writes the fields. */
    transition(turnId: string, event: TurnTransition, fields?: TurnFields): void;
    /** Fields without a change of state. */
    update(turnId: string, fields: TurnFields): void;
  };
  readonly events: {
    append(turnId: string, threadId: string, event: JournalEvent, nowMs: number): number;
    ofTurn(turnId: string, afterSeq?: number): EventRow[];
    /** The whole thread in journal order. */
    ofThread(threadId: string): EventRow[];
    /**
     * What a turn is shown of its thread: events of ended turns in their order, its own last. With a cut: from the cut's
     * turn on, of that one only its first event and those behind the cut. A turn that still waits is not there.
     */
    shown(threadId: string, turnId: string, cut: Cut | null): EventRow[];
    /** Bytes of what `shown` would give, at a fraction of its price. */
    shownBytes(threadId: string, turnId: string, cut: Cut | null): number;
  };
  readonly calls: {
    insert(row: Omit<CallRow, 'state'>): void;
    get(callId: string): CallRow | undefined;
    transition(callId: string, event: CallTransition): CallState;
    /** Requested or running. */
    openOf(turnId: string): CallRow[];
  };
  readonly waits: {
    get(waitId: string): WaitRow | undefined;
    /** In order of the calls. */
    openOf(turnId: string): WaitRow[];
    allOpen(): WaitRow[];
    insert(row: Omit<WaitRow, 'open'>): void;
    /** False when it was closed before: whoever closes a wait answers it. */
    close(waitId: string): boolean;
  };
  readonly switches: {
    isOn(name: 'paused'): boolean;
    set(name: 'paused', on: boolean, nowMs: number): void;
  };
  readonly timers: {
    insert(row: TimerRow): void;
    /** Those whose time has come, the earliest first. */
    due(nowMs: number): TimerRow[];
    nextDueMs(): number | null;
    /** How many there are; counts no further than `most`. */
    countUpTo(most: number): number;
    /** False when it was gone already. */
    remove(timerId: string): boolean;
  };
  readonly threadNotes: {
    add(threadId: string, text: string, nowMs: number): void;
    /** All that wait, in order; they wait no more. */
    take(threadId: string): string[];
  };
  readonly summaries: {
    get(threadId: string): SummaryRow | undefined;
    /** False when the summary is not of revision `baseRevision` (0: there is none) any more. */
    replace(
      threadId: string,
      baseRevision: number,
      uptoSeq: number,
      summary: JsonObject,
      nowMs: number,
    ): boolean;
  };
  readonly calibrations: {
    get(model: string, nowMs: number): Calibration;
    /** A call whose input we took for `estimateTokens` (uncalibrated) was counted as `actualTokens`. */
    observe(model: string, estimateTokens: number, actualTokens: number, nowMs: number): void;
    /** A request of `tokens` (calibrated) was refused as too long. */
    tooLong(model: string, tokens: number, nowMs: number): void;
  };
  readonly usage: {
    /** One row per model call; the same (turn, purpose, call_index) again replaces it. Null: nobody knows what it cost. */
    record(
      turnId: string,
      callIndex: number,
      model: string,
      usage: Usage,
      nowMs: number,
      costMicros?: number | null,
      purpose?: Purpose,
    ): void;
    /** Of all purposes together. */
    ofTurn(turnId: string): Usage;
    /** The same, and that of its subagents with theirs. */
    ofTree(turnId: string): Usage;
    /** The highest call index of this purpose so far; 0 when there was none. */
    lastCall(turnId: string, purpose: Purpose): number;
    /** Millionths of a US dollar; null when a call that used tokens has no price, or when there was none. */
    costOf(turnId: string): number | null;
    /** The same, and that of its subagents with theirs. */
    costOfTree(turnId: string): number | null;
  };
  readonly spending: {
    get(payer: string, per: string, startsAtMs: number): SpendingRow | undefined;
    /** The first that is spent in a window; those opened long ago are forgotten. */
    open(row: SpendingRow): void;
    /** Adds to an open window. */
    add(row: SpendingRow): void;
  };
  readonly reservations: {
    get(turnId: string, purpose: Purpose): ReservationRow | undefined;
    all(): ReservationRow[];
    /** What all others hold back. */
    held(of: HeldQuery): Held;
    /** One per turn and purpose: a new one takes the place of the old one. */
    put(row: ReservationRow): void;
    remove(turnId: string, purpose: Purpose): void;
  };
  readonly artifacts: {
    /** Takes over an existing file (renamed into place, 0600) and records it. Call inside a transaction. */
    adopt(file: string, row: Omit<ArtifactRow, 'bytes' | 'sha256'>): ArtifactRow;
    create(content: Uint8Array, row: Omit<ArtifactRow, 'bytes' | 'sha256'>): ArtifactRow;
    get(artifactId: string): ArtifactRow | undefined;
    /** Bytes from `offset`, at most `length`. */
    read(artifactId: string, offset: number, length: number): Uint8Array;
    list(threadId: string, prefix: string, limit: number): ArtifactRow[];
  };
  readonly memory: {
    get(key: string, nowMs: number): MemoryRow | undefined;
    set(row: MemoryRow): void;
    list(prefix: string, limit: number, nowMs: number): { keys: string[]; truncated: boolean };
    delete(key: string): boolean;
  };
  readonly plans: {
    get(threadId: string): JsonObject | undefined;
    set(threadId: string, plan: JsonObject, nowMs: number): void;
    clear(threadId: string): boolean;
  };
}

/** How opening can end without a store; each has its own text and exit code. */
export type OpenFailure =
  | { readonly kind: 'in_use'; readonly message: string }
  | { readonly kind: 'newer'; readonly message: string }
  | { readonly kind: 'damaged'; readonly message: string }
  | { readonly kind: 'unusable'; readonly message: string };

export interface OpenOptions {
  readonly dir: string;
  readonly on_damage: 'stop' | 'salvage';
  readonly nowMs: number;
}
