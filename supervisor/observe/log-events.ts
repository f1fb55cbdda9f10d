/** Every event name a log line can carry. A name that is not here does not compile. */
export type LogEvent =
  | 'config.loaded'
  | 'store.opened'
  | 'store.unclean'
  | 'store.salvaged'
  | 'recover.turn'
  | 'recover.orphans'
  | 'turn.accepted'
  | 'turn.settled'
  | 'turn.unrecorded'
  | 'worker.exit'
  | 'budget.wait'
  | 'budget.stop'
  | 'budget.degraded'
  | 'context.compacted'
  | 'context.not_compacted'
  | 'context.summary_failed'
  | 'model.chosen'
  | 'model.option_refused'
  | 'model.retry'
  | 'gateway.listening'
  | 'gateway.slow_client'
  | 'job.end'
  | 'internal_error';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
