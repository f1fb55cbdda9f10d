// Is a worker alive? Pure: from when it last said something to a verdict. A worker that works silently (a long
// tool, a slow model) still answers pings; one that does neither is stuck, stopped or spinning.

export interface LivenessLimits {
  /** Frames within this time mean that the turn gets on. */
  readonly progressMs: number;
  /** Pongs within this time mean that the worker is at least awake. */
  readonly pongMs: number;
}

/** All times are monotonic milliseconds. */
export interface Signs {
  readonly channelClosed: boolean;
  /** When the turn must be over at the latest; null without a turn. */
  readonly deadlineAtMs: number | null;
  readonly lastProgressMs: number;
  readonly lastPongMs: number;
}

/** `healthy` gets on, `busy` is awake but silent, `overdue` is past its deadline; the other two say themselves. */
export type Liveness = 'dead' | 'overdue' | 'healthy' | 'busy' | 'stuck';

export function judgeLiveness(signs: Signs, limits: LivenessLimits, nowMs: number): Liveness {
  if (signs.channelClosed) return 'dead';
  if (signs.deadlineAtMs !== null && nowMs >= signs.deadlineAtMs) return 'overdue';
  if (nowMs - signs.lastProgressMs < limits.progressMs) return 'healthy';
  if (nowMs - signs.lastPongMs < limits.pongMs) return 'busy';
  return 'stuck';
}

/** Longest time between two pings. */
const PING_MAX_MS = 5_000;

/** Three pings fit into the time in which one must be answered. */
export function pingEveryMs(limits: LivenessLimits): number {
  return Math.max(1, Math.min(PING_MAX_MS, limits.pongMs / 3));
}
