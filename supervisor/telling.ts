// What a supervisor says of its work in the log: how loud each event is, and what a shortage and a refusal are called.
import { measureAt, PressureWatch } from './dispatch/pressure-watch.js';
import type { RunnerEvent } from './dispatch/turn-evidence.js';
import type { Refusal } from './intake/door-rules.js';
import type { LogEvent, LogLevel } from './observe/log-events.js';
import type { SupervisorParts } from './supervisor.js';

/** A wait, for the model or for the budget, is told to everybody: nothing seems to happen meanwhile. */
export const LEVELS: Readonly<Record<RunnerEvent, LogLevel>> = {
  'turn.settled': 'info',
  'turn.unrecorded': 'error',
  'turn.requeued': 'info',
  'wait.unrecorded': 'error',
  'worker.exit': 'debug',
  'model.retry': 'warn',
  'model.endpoint_failed': 'warn',
  'model.fallback': 'warn',
  'budget.wait': 'warn',
  'budget.stop': 'warn',
  'budget.degraded': 'warn',
};

export const REFUSALS = {
  not_owner: 'turn.refused.not_owner',
  queue_full: 'turn.refused.queue_full',
  too_many_hops: 'turn.refused.too_many_hops',
  id_taken: 'turn.refused.id_taken',
} as const satisfies Record<Refusal['code'], LogEvent>;

export function watchPressure({ clock, config, logger, store }: SupervisorParts): PressureWatch {
  return new PressureWatch({
    clock,
    minFreeBytes: config.store.min_free_bytes,
    measure: measureAt(store.dir),
    changed: ({ level, why }) =>
      level === 'ok'
        ? logger.log('info', 'pressure.cleared')
        : logger.log('warn', level === 'shed' ? 'pressure.shed' : 'pressure.warn', { why }),
  });
}
