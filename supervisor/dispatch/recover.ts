// At start: every turn that an earlier supervisor left unfinished is brought to a true state before anything new runs.
// Its processes are ended and its open calls sealed. A turn of a job belonged to that process and ends as failed; any
// other goes back to the queue and on from its journal, and what it waited for it still waits for.
import type { JournalEvent } from '../../shared/journal.js';
import type { Governor } from '../budgets/governor.js';
import type { Recorded } from '../processes/orphans.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { requeueInside } from './requeue.js';
import { type LostCall, settleInside } from './settle.js';
import { chargeLostThoughts } from './thought-account.js';

export interface Recovery {
  /** Turns that were ended, oldest first. */
  readonly turns: readonly string[];
  /** Turns that go on in another window. */
  readonly requeued: readonly string[];
}

/** The processes that an earlier supervisor recorded and may have left alive. A worker's marker is its id. */
export function recordedProcesses(store: Store): Recorded[] {
  const recorded: Recorded[] = [];
  for (const turn of store.turns.inStates(['starting', 'running', 'stopping'])) {
    if (turn.pid === null || turn.pid_start === null || turn.worker_id === null) continue;
    recorded.push({ pid: turn.pid, pid_start: turn.pid_start, marker: turn.worker_id });
  }
  return recorded;
}

export function recover(store: Store, governor: Governor, nowMs: number): Recovery {
  const left = store.turns.inStates(['queued', 'starting', 'running', 'stopping']);
  if (left.length === 0 && store.reservations.all().length === 0) return { turns: [], requeued: [] };
  const recovery = { turns: [] as string[], requeued: [] as string[] };
  store.transact('recover', () => {
    chargeLostThoughts(store, governor, nowMs);
    for (const turn of left) bringBack(store, governor, turn, nowMs, recovery);
    // Of turns that ended under code which did not know of them, or under a configuration without budgets.
    for (const row of store.reservations.all()) store.reservations.remove(row.turn_id, row.purpose);
  });
  return recovery;
}

function bringBack(
  store: Store,
  governor: Governor,
  turn: TurnRow,
  nowMs: number,
  recovery: { readonly turns: string[]; readonly requeued: string[] },
): void {
  const { turn_id: turnId, end_requested: asked, state } = turn;
  const producer = store.inbox.ofTurn(turnId)?.producer;
  if (producer === 'subagent' && asked === null && isOrphan(store, turn)) {
    // Who asked for it came before it, and has its end by now.
    store.turns.update(turnId, { end_requested: 'cancel' });
    bringBack(store, governor, { ...turn, end_requested: 'cancel' }, nowMs, recovery);
    return;
  }
  if (producer === 'job' || asked !== null) {
    endLeft(store, governor, turn, nowMs);
    recovery.turns.push(turnId);
    return;
  }
  if (state === 'queued') return;
  const { rounds, tool_calls: toolCalls } = turn;
  const activeMs = lastWindowMs(store, turn);
  const lostCall = lostCallOf(governor, turnId);
  requeueInside(store, governor, turnId, { rounds, toolCalls, activeMs, lostCall }, nowMs);
  recovery.requeued.push(turnId);
}

/** Nobody waits for the subagent any more. */
function isOrphan(store: Store, { parent_turn_id: parentId, options }: TurnRow): boolean {
  const parent = parentId === null ? undefined : store.turns.get(parentId);
  if (parent === undefined) return true;
  return parent.state === 'ended' && options.detached !== true;
}

/** As far as its journal tells. */
function lastWindowMs(store: Store, turn: TurnRow): number {
  let sinceMs = turn.started_at_ms ?? turn.created_at_ms;
  let untilMs = sinceMs;
  for (const { event, at_ms: atMs } of store.events.ofTurn(turn.turn_id)) {
    if (event.kind === 'window_opened') sinceMs = atMs;
    untilMs = atMs;
  }
  return Math.max(0, untilMs - sinceMs);
}

function endLeft(store: Store, governor: Governor, turn: TurnRow, nowMs: number): JournalEvent[] {
  const started = turn.state !== 'queued';
  const asked = turn.end_requested;
  const cancelled = asked === 'cancel' || asked === 'operator' || asked === 'drain';
  const message = started
    ? 'the supervisor of this turn was lost while the turn ran; what its last calls did is recorded as far as it is known'
    : 'the supervisor was lost before this turn started; nothing was run';
  return settleInside(
    store,
    governor,
    turn.turn_id,
    {
      reply: '',
      ...(asked === 'deadline'
        ? { status: 'deadline', error: { code: 'deadline', message: 'the turn passed its deadline' } }
        : {
            status: cancelled ? 'cancelled' : 'failed',
            error: { code: cancelled ? 'cancelled' : 'supervisor_lost', message },
          }),
      rounds: turn.rounds,
      toolCalls: turn.tool_calls,
      lostCall: lostCallOf(governor, turn.turn_id),
    },
    nowMs,
  );
}

/** A call that was let go and never settled may have been answered and billed: it is charged at what was held for it. */
function lostCallOf(governor: Governor, turnId: string): LostCall | null {
  const held = governor.held(turnId);
  if (held === undefined || held.call_index === null) return null;
  const { call_index: index, model, input_tokens: inputTokens, output_tokens: outputTokens } = held;
  return { index, model, inputTokens, outputTokens };
}
