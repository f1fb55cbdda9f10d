// What a turn may use: what the configuration lets every turn use, and less where the turn was given less.
import type { Config } from '../../config/schema.js';
import type { TurnOptions } from '../store/rows.js';

export interface Allowance {
  readonly rounds: number;
  readonly tokens: number;
  /** Of the time in which it runs; what it waits in the queue does not count. */
  readonly deadline_ms: number;
}

export function allowanceOf(run: Config['limits']['run'], options: TurnOptions | undefined): Allowance {
  return lesserOf({ rounds: run.steps, tokens: run.tokens, deadline_ms: run.deadline_ms }, options?.limits);
}

export function lesserOf(most: Allowance, asked: Partial<Allowance> = {}): Allowance {
  return {
    rounds: Math.min(most.rounds, asked.rounds ?? most.rounds),
    tokens: Math.min(most.tokens, asked.tokens ?? most.tokens),
    deadline_ms: Math.min(most.deadline_ms, asked.deadline_ms ?? most.deadline_ms),
  };
}
