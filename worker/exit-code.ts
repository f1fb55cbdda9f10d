// The exit code that a worker's outcome has: seen in logs and by whoever watches processes.
import type { TurnOutcome } from '../shared/ipc/to-supervisor.js';
import type { TurnStatus } from '../shared/outcome.js';

const BY_STATUS: Record<TurnStatus, number> = {
  completed: 0,
  failed: 1,
  cancelled: 1,
  refused: 5,
  exhausted_steps: 7,
  exhausted_tokens: 7,
  deadline: 124,
  loop_detected: 3,
};

export const EXIT_FAILED = 1;
/** The two ends of the wire do not fit each other. */
export const EXIT_USAGE = 2;
const EXIT_MODEL = 4;

export function workerExitCode(outcome: TurnOutcome): number {
  if (outcome.status === 'failed' && outcome.error?.code.startsWith('model_')) return EXIT_MODEL;
  return BY_STATUS[outcome.status];
}
