// What is known about a turn that did not go as it should, in the words of the journal and of the log.
import { type Failure, TurndError } from '../../shared/errors.js';
import { estimateRequest } from '../../shared/transcript/estimate-tokens.js';
import type { Governor } from '../budgets/governor.js';
import type { WorkerExit } from '../processes/types.js';
import type { TurnRow } from '../store/rows.js';
import type { RunningTurn } from '../tools/running-turn.js';
import type { LostCall } from './settle.js';

/** What the log hears of a turn in flight. */
export type RunnerEvent =
  | 'turn.settled'
  | 'turn.unrecorded'
  | 'turn.requeued'
  | 'wait.unrecorded'
  | 'worker.exit'
  | 'model.retry'
  | 'model.endpoint_failed'
  | 'model.fallback'
  | 'budget.wait'
  | 'budget.stop'
  | 'budget.degraded';

/** A step that could not be written down, as why the turn ends. */
export function unrecorded(error: unknown): Failure {
  const code = error instanceof TurndError ? error.code : 'internal_error';
  return { code, message: `the turn could not be recorded: ${messageOf(error)}` };
}

/** What kept a turn from its worker. */
export function unstarted(error: unknown): Failure {
  return { code: 'internal_error', message: `the turn could not be started: ${messageOf(error)}` };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Charged at what was held back for it; without a budget, at the request as far as it is known. */
export function lostCallOf(
  { turnId, modelCalls: index, snapshot }: RunningTurn,
  governor: Governor,
): LostCall {
  const held = governor.held(turnId);
  if (held !== undefined)
    return { index, model: held.model, inputTokens: held.input_tokens, outputTokens: held.output_tokens };
  const estimate = estimateRequest(snapshot.system_prompt, snapshot.messages, snapshot.tools);
  const inputTokens = Math.ceil((snapshot.context?.calibration ?? 1) * estimate);
  return { index, model: snapshot.model.model, inputTokens, outputTokens: 0 };
}

/** How a turn ended whose end the store did not take, for those who wait for it. */
export function unrecordedEnd(row: TurnRow, failure: Failure, running: RunningTurn | null): TurnRow {
  return {
    ...row,
    status: 'failed',
    error_code: failure.code,
    error_message: failure.message,
    rounds: running?.rounds ?? 0,
    tool_calls: running?.toolCalls ?? 0,
  };
}

/** What a log line tells of a worker's end. */
export function exitFields(exit: WorkerExit): Record<string, unknown> {
  return {
    code: exit.code,
    signal: exit.signal,
    swept: exit.swept,
    ...(exit.fault === null ? {} : { fault: exit.fault.code, message: exit.fault.message }),
    ...(exit.prints === '' ? {} : { prints: exit.prints }),
  };
}
