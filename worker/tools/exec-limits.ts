// The time limits of one command: what was asked for, checked against what is allowed and what is left of the turn.
import type { ToolContext } from './executor.js';

export interface ExecLimits {
  readonly limitMs: number;
  readonly yieldMs: number;
  readonly notes: readonly string[];
}

/** An error in words that state the real limit, or null. Also called with what a schema should have stopped. */
export function timeProblem(name: string, value: unknown, leastMs: number, mostMs: number): string | null {
  if (value === undefined) return null;
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= leastMs && value <= mostMs;
  if (fits) return null;
  const got = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return `${name} must be a whole number of milliseconds from ${leastMs} to ${mostMs}; got ${got}`;
}

/** The limits to run under, or what is wrong with those asked for. */
export function execLimits(
  asked: { readonly timeout_ms?: number | undefined; readonly yield_ms?: number | undefined },
  context: ToolContext,
): ExecLimits | string {
  const { exec_timeout_ms, exec_timeout_max_ms, exec_yield_ms } = context.limits;
  const problem =
    timeProblem('timeout_ms', asked.timeout_ms, 1, exec_timeout_max_ms) ??
    timeProblem('yield_ms', asked.yield_ms, 0, exec_timeout_max_ms);
  if (problem !== null) return problem;
  const wantedMs = asked.timeout_ms ?? Math.min(exec_timeout_ms, exec_timeout_max_ms);
  const remainingMs = Math.floor(context.remainingMs());
  if (remainingMs < 1) return "nothing is left of the turn's time, so no command can be started";
  const notes =
    remainingMs < wantedMs
      ? [`The time limit was cut from ${wantedMs} ms to ${remainingMs} ms: that is what is left of the turn.`]
      : [];
  return { limitMs: Math.min(wantedMs, remainingMs), yieldMs: asked.yield_ms ?? exec_yield_ms, notes };
}
