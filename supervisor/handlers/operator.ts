// `operator/*`: how the daemon stands, what it works on, and to hold it, let it go on or end it.
import type { DaemonStatus, LiveTurn } from '../../shared/protocol/operator.js';
import { residentBytes } from '../processes/proc-files.js';
import type { TurnRow } from '../store/rows.js';
import { VERSION } from '../version.js';
import { type HandlerParts, type HandlersOf, Refused } from './ports.js';
import { questionsOf } from './question.js';
import { openTurns, quoted } from './views.js';
import { ownWorkspace } from './workspace.js';

type Names =
  | 'operator/status'
  | 'operator/turns'
  | 'operator/kill'
  | 'operator/pause'
  | 'operator/resume'
  | 'operator/drain';

export function operatorHandlers(parts: HandlerParts): HandlersOf<Names> {
  const { engine, store } = parts;
  const status = (): DaemonStatus => statusOf(parts);
  return {
    'operator/status': status,
    'operator/turns': () => ({ turns: openTurns(store, null).map((turn) => liveTurn(parts, turn)) }),
    'operator/kill': async ({ turn_id: id, now }, call) => {
      const turn = store.turns.get(id);
      if (turn === undefined) throw new Refused('turn_not_found', `there is no turn ${quoted(id)}`);
      call.release();
      const killed = engine.requestEnd(id, now ? 'operator' : 'cancel', now);
      const row = turn.state === 'ended' ? turn : await engine.whenSettled(id);
      return { turn_id: id, thread_id: row.thread_id, outcome: row.status ?? 'failed', killed };
    },
    'operator/pause': () => {
      engine.pause();
      return status();
    },
    'operator/resume': () => {
      engine.resume();
      return status();
    },
    'operator/drain': () => {
      // The answer does not wait for the last turn: the connection ends when the daemon does.
      void parts.drain();
      return status();
    },
  };
}

function isParked({ store }: HandlerParts, turn: TurnRow): boolean {
  return turn.state === 'queued' && store.waits.openOf(turn.turn_id).length > 0;
}

function statusOf(parts: HandlerParts): DaemonStatus {
  const { clock, engine, model, startedAtMs, store, workspaceRoot } = parts;
  const { paused, draining, shedding } = engine.status();
  const turns = openTurns(store, null);
  const parked = turns.filter((turn) => isParked(parts, turn)).length;
  const queued = turns.filter((turn) => turn.state === 'queued').length - parked;
  return {
    state: draining ? 'draining' : paused ? 'paused' : 'running',
    version: VERSION,
    pid: process.pid,
    state_dir: store.dir,
    workspace_id: ownWorkspace(parts).workspace_id,
    workspace_root: workspaceRoot,
    model: model.name,
    started_at_unix_ms: startedAtMs,
    uptime_ms: Math.max(0, clock.now() - startedAtMs),
    turns: { running: turns.length - parked - queued, queued, parked },
    questions: questionsOf(parts, null).length,
    connections: parts.connections(),
    holds: [
      ...(draining ? ['the daemon is draining'] : []),
      ...(paused ? ['an operator paused it'] : []),
      ...(shedding ? ['disk or memory run short'] : []),
    ],
    memory_bytes: residentBytes(process.pid) ?? 0,
  };
}

function liveTurn(parts: HandlerParts, turn: TurnRow): LiveTurn {
  const { clock, store, watch } = parts;
  const { input_tokens, output_tokens } = store.usage.ofTurn(turn.turn_id);
  const { round, tool } = watch.of(turn.turn_id);
  const pid = turn.state === 'queued' ? null : turn.pid;
  return {
    turn_id: turn.turn_id,
    thread_id: turn.thread_id,
    state: isParked(parts, turn) ? 'parked' : turn.state,
    producer: store.inbox.ofTurn(turn.turn_id)?.producer ?? '',
    // A worker leads its own process group.
    ...(pid === null ? {} : { pid, pgid: pid, memory_bytes: residentBytes(pid) }),
    age_ms: Math.max(0, clock.now() - turn.created_at_ms),
    round: Math.max(round, turn.rounds),
    ...(tool === null ? {} : { tool }),
    tokens: input_tokens + output_tokens,
    model: turn.model,
  };
}
