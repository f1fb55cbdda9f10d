// The public exit codes of a job. Scripts depend on them: a number never changes its meaning.
import { ERRORS, type ErrorCode } from '../shared/errors.js';
import type { EndReason, TurnStatus } from '../shared/outcome.js';

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  loop_detected: 3,
  model: 4,
  refused: 5,
  exhausted: 7,
  call_refused: 8,
  state_in_use: 9,
  state_damaged: 10,
  deadline: 124,
  interrupted: 130,
  terminated: 143,
} as const;

export interface JobEnd {
  readonly status: TurnStatus;
  readonly errorCode: string | null;
  readonly endRequested: EndReason | null;
  /** The signal that made the job cancel its turn, if one did. */
  readonly signal: 'SIGINT' | 'SIGTERM' | null;
  /** Calls refused because nobody could answer. */
  readonly refusedCalls: number;
}

export function jobExitCode(end: JobEnd): number {
  switch (end.status) {
    case 'completed':
      return EXIT.ok;
    case 'failed':
      if (end.errorCode?.startsWith('model_')) return EXIT.model;
      return end.refusedCalls > 0 ? EXIT.call_refused : EXIT.failed;
    case 'cancelled':
      if (end.signal === 'SIGINT') return EXIT.interrupted;
      if (end.signal === 'SIGTERM') return EXIT.terminated;
      return EXIT.failed;
    case 'refused':
      return EXIT.refused;
    case 'exhausted_steps':
    case 'exhausted_tokens':
      return EXIT.exhausted;
    case 'deadline':
      return EXIT.deadline;
    case 'loop_detected':
      return EXIT.loop_detected;
  }
}

/** Exit code of a command that ends before a turn could run. */
export function commandExitCode(code: ErrorCode): number {
  switch (code) {
    case 'usage':
    case 'invalid_config':
      return EXIT.usage;
    case 'state_in_use':
      return EXIT.state_in_use;
    case 'state_damaged':
    case 'state_newer':
      return EXIT.state_damaged;
    default:
      return ERRORS[code].act === 'client' ? EXIT.usage : EXIT.failed;
  }
}
