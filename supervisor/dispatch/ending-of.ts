// Why did this turn end? Pure: from what the worker said, how it died and what was asked of it, one ending.
// A durable request to cancel outranks an outcome that raced it; a worker's own outcome outranks its exit.
import type { EndReason, TurnStatus } from '../../shared/outcome.js';
import type { WorkerExit } from '../processes/types.js';
import type { Terminal } from './fold-frame.js';
import type { Ending } from './settle.js';

export interface Evidence {
  readonly terminal: Terminal | null;
  /** Null while the worker lives, or when none was needed. */
  readonly exit: WorkerExit | null;
  readonly endRequested: EndReason | null;
  /** What broke on our side of the wire, or in how the worker was started. */
  readonly fault: { readonly code: string; readonly message: string } | null;
  readonly rounds: number;
  readonly toolCalls: number;
  readonly lostCall: Ending['lostCall'];
  mask(text: string): string;
}

const CANCELLED = { code: 'cancelled', message: 'the turn was cancelled' };

export function endingOf(evidence: Evidence): Ending {
  const { terminal, endRequested, mask } = evidence;
  const base = { rounds: evidence.rounds, toolCalls: evidence.toolCalls, lostCall: evidence.lostCall };
  if (terminal?.kind === 'outcome') {
    const { outcome } = terminal;
    const cancelled = isCancel(endRequested) && outcome.status === 'completed';
    const status: TurnStatus = cancelled ? 'cancelled' : outcome.status;
    const error = cancelled ? CANCELLED : (outcome.error ?? defaultError(status));
    return {
      ...base,
      status,
      reply: mask(outcome.reply),
      error: status === 'completed' ? null : { code: error.code, message: mask(error.message) },
      rounds: Math.max(base.rounds, outcome.rounds),
      toolCalls: Math.max(base.toolCalls, outcome.tool_calls),
    };
  }
  if (terminal?.kind === 'failed')
    return {
      ...base,
      status: 'failed',
      reply: '',
      error: { code: 'worker_lost', message: terminal.message },
    };
  return { ...base, reply: '', ...deathOf(evidence) };
}

function isCancel(reason: EndReason | null): boolean {
  return reason === 'cancel' || reason === 'operator' || reason === 'drain';
}

function deathOf({ exit, endRequested, fault, mask }: Evidence): Pick<Ending, 'status' | 'error'> {
  if (isCancel(endRequested)) return { status: 'cancelled', error: CANCELLED };
  if (endRequested === 'deadline') return { status: 'deadline', error: defaultError('deadline') };
  if (fault !== null) return { status: 'failed', error: { code: fault.code, message: mask(fault.message) } };
  const signal = exit?.signal ?? null;
  const how =
    signal !== null ? `was ended by ${signal}` : `exited with code ${exit?.code ?? '?'} and no result`;
  return { status: 'failed', error: { code: 'worker_lost', message: `the worker process ${how}` } };
}

function defaultError(status: TurnStatus): { code: string; message: string } {
  const text: Record<TurnStatus, string> = {
    completed: '',
    failed: 'the turn failed',
    cancelled: CANCELLED.message,
    refused: 'the turn was refused',
    exhausted_steps: 'the turn reached its limit of rounds',
    exhausted_tokens: 'the turn reached its limit of tokens',
    deadline: 'the turn passed its deadline',
    loop_detected: 'the turn repeated the same call without progress',
  };
  return { code: status === 'failed' ? 'internal_error' : status, message: text[status] };
}
