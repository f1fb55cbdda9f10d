// A window of a turn begins: the durable step from the queue to a worker, and why a turn goes on that ran before.
import type { TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { WorkerHandle } from '../processes/types.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import type { RunningTurn } from '../tools/running-turn.js';
import type { Waiting } from './gate.js';
import type { RunnerParts } from './runner-parts.js';

/** Inside a transaction. Returns what it journaled. */
export function openWindow(
  store: Store,
  turn: TurnRow,
  worker: WorkerHandle,
  snapshot: TurnSnapshot,
  nowMs: number,
): JournalEvent[] {
  const events = turn.windows === 0 ? [] : [openedAgain(store, turn)];
  for (const event of events) store.events.append(turn.turn_id, turn.thread_id, event, nowMs);
  store.turns.transition(turn.turn_id, 'dispatch', {
    worker_id: worker.workerId,
    pid: worker.pid,
    pid_start: worker.pidStart,
    model: snapshot.model.model,
    started_at_ms: turn.started_at_ms ?? nowMs,
    windows: turn.windows + 1,
  });
  return events;
}

/** A turn whose last event is the answer to a wait was parked; any other was broken off. */
function openedAgain(store: Store, { turn_id: turnId, windows }: TurnRow): JournalEvent {
  const last = store.events.ofTurn(turnId).at(-1)?.event;
  const answered = last?.kind === 'tool_result' && store.waits.get(last.call_id)?.open === false;
  const reason = answered ? 'answered' : 'runtime_shutdown_continuation';
  return { kind: 'window_opened', window: windows + 1, reason };
}

/** What is kept of it in memory while its worker lives. It counts on from where earlier windows ended. */
export function runningTurn(
  parts: RunnerParts,
  turn: Waiting,
  snapshot: TurnSnapshot,
  ports: Pick<RunningTurn, 'ending' | 'waited' | 'broken'>,
): RunningTurn {
  const { store, clock, masker, ask, live, waits } = parts;
  const { rounds, tool_calls: toolCalls } = snapshot.prior ?? { rounds: 0, tool_calls: 0 };
  return {
    turnId: turn.turnId,
    threadId: turn.threadId,
    ...{ store, clock, masker, ask, live, waits, snapshot },
    granted: new Map(),
    unwritten: [],
    rounds,
    toolCalls,
    modelCalls: rounds,
    modelCallOpen: false,
    closed: false,
    ...ports,
  };
}
