// Folds a worker's frame into the store: what is finished is journaled, what is live is passed on.
// Frames of one worker arrive in order and are folded in order.

import { dirname } from 'node:path';
import { newId } from '../../shared/ids.js';
import type { ProgressEvent } from '../../shared/ipc/progress.js';
import type { ToSupervisor, TurnOutcome } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { JournalEvent } from '../../shared/journal.js';
import { unreachable } from '../../shared/unreachable.js';
import { executeCall } from '../tools/execute-call.js';
import { flushJournal, journal, journalSoon, type RunningTurn } from '../tools/running-turn.js';
import type { TurnBudget } from './turn-budget.js';

/** A worker's own account of how its turn ended. */
export type Terminal =
  | { readonly kind: 'outcome'; readonly outcome: TurnOutcome }
  | { readonly kind: 'failed'; readonly message: string };

export type FoldReason = Extract<ToSupervisor, { type: 'compact_request' }>['reason'];
export type FoldAnswer = Omit<Extract<ToWorker, { type: 'compact_answer' }>, 'type' | 'id'>;

export type ReachNews = Extract<
  ProgressEvent,
  { event: 'endpoint_failed' | 'endpoint_ok' | 'model_fallback' }
>;

export interface FoldPorts {
  readonly budget: TurnBudget;
  send(frame: ToWorker): void;
  /** Folds the thread of the turn, and says what its worker goes on with. Everything told so far is durable before. */
  compact(reason: FoldReason): Promise<FoldAnswer>;
  /** The worker said how it ended. */
  terminal(terminal: Terminal): void;
  /** A model refuses a request option: never send it again. */
  optionRefused(model: string, option: string): void;
  /** A model call waits before it is tried again: somebody may wonder why nothing happens. */
  retry(wait: Extract<ProgressEvent, { event: 'retry_scheduled' }>): void;
  /** An endpoint failed or works again, or another model goes on. */
  reach(news: ReachNews): void;
  /** The frame cannot be: the worker is broken. */
  violation(message: string): void;
  /** Something of ours failed while the frame was folded. */
  broken(error: unknown): void;
}

export function foldFrame(turn: RunningTurn, frame: ToSupervisor, ports: FoldPorts): void {
  switch (frame.type) {
    case 'progress':
      foldProgress(turn, frame.progress, ports);
      return;
    case 'tool_request':
      executeCall(turn, frame, ports.send).catch(ports.broken);
      return;
    case 'tool_result':
      foldResult(turn, frame, ports);
      return;
    case 'budget_request':
      // Nobody waits for the answer any more, and what an ended turn holds back would be lost.
      if (turn.ending) return;
      flushJournal(turn);
      ports.send({
        type: 'budget_answer',
        id: frame.id,
        answer: ports.budget.answer(frame.estimate_tokens, turn.modelCalls + 1, frame.model),
      });
      return;
    case 'compact_request':
      if (turn.ending) return;
      flushJournal(turn);
      ports
        .compact(frame.reason)
        .then((answer) => ports.send({ type: 'compact_answer', id: frame.id, ...answer }))
        .catch(ports.broken);
      return;
    case 'turn_done':
      ports.terminal({ kind: 'outcome', outcome: frame.outcome });
      return;
    case 'failed':
      ports.terminal({ kind: 'failed', message: turn.masker.text(frame.message) });
      return;
    case 'found':
      ports.violation('the result of a search from a worker that has a turn');
      return;
    case 'hello':
    case 'ready':
    case 'prepared':
    case 'pong':
      return;
    default:
      unreachable(frame);
  }
}

function foldProgress(turn: RunningTurn, progress: ProgressEvent, ports: FoldPorts): void {
  switch (progress.event) {
    case 'round':
      turn.rounds = progress.round;
      turn.modelCalls += 1;
      turn.modelCallOpen = true;
      break;
    case 'usage':
      turn.modelCallOpen = false;
      foldUsage(turn, progress, ports.budget);
      break;
    case 'assistant':
      soon(turn, { kind: 'assistant_message', ...withoutEvent(progress) });
      break;
    case 'invalid_call':
      soon(turn, {
        kind: 'tool_result',
        call_id: progress.call_id,
        tool: progress.tool,
        content: { error: progress.message },
        is_error: true,
        end: 'invalid',
        duration_ms: 0,
      });
      break;
    case 'note':
      soon(turn, { kind: 'note', text: progress.text });
      break;
    case 'option_dropped':
      ports.optionRefused(progress.model ?? turn.snapshot.model.model, progress.option);
      break;
    case 'retry_scheduled':
      ports.retry(progress);
      break;
    case 'endpoint_failed':
    case 'endpoint_ok':
    case 'model_fallback':
      ports.reach(progress);
      break;
    case 'delta':
      break;
    default:
      unreachable(progress);
  }
  turn.live(turn.turnId, {
    type: 'progress',
    progress: turn.masker.json(progress as never) as ProgressEvent,
  });
}

/** The record of a call, what it cost and what was held for it change together. */
function foldUsage(
  turn: RunningTurn,
  progress: Extract<ProgressEvent, { event: 'usage' }>,
  budget: TurnBudget,
): void {
  const event = budget.priced(progress.call_index, progress.model, progress.usage, progress.asked);
  journalSoon(turn, {
    events: [event],
    beside: () => {
      budget.settle(event);
      const { asked = turn.snapshot.model.model, estimate_tokens: estimate, usage } = progress;
      if (estimate !== undefined)
        turn.store.calibrations.observe(asked, estimate, usage.input_tokens, turn.clock.now());
    },
    after: () => budget.settled(),
  });
}

function soon(turn: RunningTurn, event: JournalEvent): void {
  journalSoon(turn, { events: [event], beside: () => undefined, after: () => undefined });
}

function withoutEvent<T extends { event: string }>(progress: T): Omit<T, 'event'> {
  const { event: _event, ...fields } = progress;
  return fields;
}

/** Commits what a granted call gave, adopts its spilled output, and only then lets the model see it. */
function foldResult(
  turn: RunningTurn,
  frame: Extract<ToSupervisor, { type: 'tool_result' }>,
  ports: FoldPorts,
): void {
  const call = turn.granted.get(frame.id);
  if (call === undefined || call.callId !== frame.call_id) {
    ports.violation(`a result for a call that was not granted: ${frame.call_id}`);
    return;
  }
  const spill = frame.result.spill;
  if (spill !== undefined && dirname(spill.path) !== turn.snapshot.spool_dir) {
    ports.violation('a spilled output outside of the directory of its turn');
    return;
  }
  turn.granted.delete(frame.id);
  const { store } = turn;
  const now = turn.clock.now();
  const artifactId = spill === undefined ? undefined : newId('artifact', now);
  journal(
    turn,
    'record_result',
    [
      {
        kind: 'tool_result',
        call_id: call.callId,
        tool: call.tool,
        content: frame.result.content,
        is_error: frame.result.is_error,
        end: 'done',
        duration_ms: Math.round(frame.duration_ms),
        ...(artifactId === undefined ? {} : { artifact_id: artifactId }),
      },
    ],
    () => {
      store.calls.transition(call.callId, 'finish');
      if (spill !== undefined && artifactId !== undefined) {
        store.artifacts.adopt(spill.path, {
          artifact_id: artifactId,
          thread_id: turn.threadId,
          turn_id: turn.turnId,
          name: `output of ${call.tool}`,
          mime: spill.mime,
          created_at_ms: now,
        });
      }
    },
  );
  ports.send({
    type: 'tool_committed',
    id: frame.id,
    ...(artifactId === undefined ? {} : { artifact_id: artifactId }),
  });
}
