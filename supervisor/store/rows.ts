// The rows that the store gives and takes, one shape a table.
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { CallState } from '../../shared/machines/call.js';
import type { TurnState } from '../../shared/machines/turn.js';
import type { EndReason, TurnStatus } from '../../shared/outcome.js';
import type { PermissionMode } from '../../shared/policy/permission-mode.js';

export interface WorkspaceRow {
  readonly workspace_id: string;
  /** Absolute, resolved. Unique. */
  readonly root: string;
  readonly created_at_ms: number;
}

export interface ThreadRow {
  readonly thread_id: string;
  readonly workspace_id: string;
  readonly owner: string;
  readonly created_at_ms: number;
  /** What a client calls it. */
  readonly name: string | null;
  /** `Chat`: its turns get no tools, unless they say otherwise. */
  readonly mode: 'Chat' | 'Agent';
  /** Of a subagent: the turn that started it. */
  readonly parent_turn_id: string | null;
}

export interface InboxRow {
  readonly event_id: string;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly principal: string;
  readonly text: string;
  readonly created_at_ms: number;
  readonly producer: Producer;
  readonly lane: Lane;
  /** Deliveries between this message and the one that a person or a timer sent. */
  readonly hop: number;
}

/** Who wrote a message. A turn of a `job` belongs to its process and ends with it; all others outlive a restart. */
export type Producer = 'job' | 'client' | 'prompt' | 'message' | 'timer' | 'subagent';

/** A person who waits goes before work that nobody looks at. */
export type Lane = 'person' | 'background';

/** What one turn may do and use, where that differs from the configuration. Never more than its parent or the configuration allows. */
export interface TurnOptions {
  /** What runs without asking; absent: as configured. */
  readonly permission_mode?: PermissionMode;
  readonly output_schema?: JsonObject;
  /** Names of the tools it gets; absent: all. */
  readonly tools?: readonly string[];
  readonly limits?: { readonly rounds?: number; readonly tokens?: number; readonly deadline_ms?: number };
  /** Name of a declared model. */
  readonly model?: string;
  /** Stands in the system prompt after the agent's own instruction. */
  readonly instruction?: string;
  /** Of a subagent: it may outlive the turn that asked for it. */
  readonly detached?: true;
}

/** A call that is answered later. Its id is that of the call. */
export interface WaitRow {
  readonly wait_id: string;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly tool: string;
  /** What is waited for, in the words of the tool. */
  readonly subject: JsonObject;
  /** Wall time at which time itself answers; null when it never does. */
  readonly wake_at_ms: number | null;
  readonly open: boolean;
  readonly created_at_ms: number;
}

/** A place in a thread: everything up to it stands in the summary. */
export interface Cut {
  readonly turnId: string;
  readonly seq: number;
}

/** A message that is delivered when its time has come. */
export interface TimerRow {
  /** Also the id of the delivery: it is accepted once, however often it is tried. */
  readonly timer_id: string;
  /** Wall time. */
  readonly due_at_ms: number;
  readonly thread_id: string;
  readonly workspace_id: string;
  readonly principal: string;
  readonly text: string;
  readonly hop: number;
  readonly created_at_ms: number;
}

export interface SummaryRow {
  readonly thread_id: string;
  /** Grows by one with each change. */
  readonly revision: number;
  /** Events up to this position are folded into it. */
  readonly upto_seq: number;
  readonly summary: JsonObject;
  readonly updated_at_ms: number;
}

export interface TurnRow {
  readonly turn_id: string;
  readonly thread_id: string;
  readonly state: TurnState;
  readonly status: TurnStatus | null;
  readonly reply: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  /** Durable cancel flag and the like: the first reason wins; the gate, the worker start and each call read it. */
  readonly end_requested: EndReason | null;
  readonly model: string;
  readonly snapshot_hash: string | null;
  readonly worker_id: string | null;
  readonly pid: number | null;
  /** Start time of the pid in clock ticks since boot (field 22 of /proc/PID/stat): with it a reused pid is not taken for ours. */
  readonly pid_start: string | null;
  readonly rounds: number;
  readonly tool_calls: number;
  readonly created_at_ms: number;
  readonly started_at_ms: number | null;
  readonly ended_at_ms: number | null;
  readonly parent_turn_id: string | null;
  readonly options: TurnOptions;
  /** How often it was dispatched: more than once when it was parked, or its supervisor was lost. */
  readonly windows: number;
  /** How long its earlier windows ran; time in the queue and parked does not count against the deadline. */
  readonly active_ms: number;
}

/** What `transition` and `update` may write. */
export type TurnFields = Partial<
  Omit<TurnRow, 'turn_id' | 'thread_id' | 'state' | 'parent_turn_id' | 'options'>
>;

export interface EventRow {
  /** Position in the journal, unique and growing over the whole store. */
  readonly seq: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly at_ms: number;
  readonly event: JournalEvent;
}

export interface CallRow {
  readonly call_id: string;
  readonly turn_id: string;
  readonly tool: string;
  readonly index: number;
  readonly state: CallState;
  readonly arguments: JsonObject;
  readonly created_at_ms: number;
}

export interface ArtifactRow {
  readonly artifact_id: string;
  readonly thread_id: string;
  readonly turn_id: string | null;
  readonly name: string;
  readonly mime: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly created_at_ms: number;
}

/** What one payer spent within one window, or ever. */
export interface Held {
  readonly tokens: number;
  readonly requests: number;
  /** Millionths of a US dollar. */
  readonly cost_micros: number;
}

export interface SpendingRow extends Held {
  /** Who pays: `instance`, `thread:ID` or `principal:NAME`. */
  readonly payer: string;
  /** Length of the window, or `lifetime`. */
  readonly per: string;
  readonly starts_at_ms: number;
}

/** What a turn spends on. */
export type Purpose = 'turn' | 'preflight' | 'compaction' | 'think' | 'decide';

export interface ReservationRow {
  readonly turn_id: string;
  readonly purpose: Purpose;
  readonly thread_id: string;
  readonly principal: string;
  /** The model call it is for; null before the turn asked for its first one. */
  readonly call_index: number | null;
  readonly model: string;
  /** On the cheaper model: windows are not charged. */
  readonly degraded: boolean;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros: number;
  readonly at_ms: number;
}

/** For whom a cap counts. */
export interface Payer {
  readonly scope: 'instance' | 'thread' | 'principal';
  /** Empty for the instance. */
  readonly name: string;
}

export interface HeldQuery {
  readonly payer: Payer;
  readonly exceptTurnId: string;
  /** Count what is held back for the cheaper model too. */
  readonly withDegraded: boolean;
  /** Only what was held back from this time on … */
  readonly fromMs: number;
  /** … and before this one. */
  readonly beforeMs: number;
}

export interface MemoryRow {
  readonly key: string;
  readonly value: JsonValue;
  readonly updated_at_ms: number;
  readonly expires_at_ms: number | null;
}
