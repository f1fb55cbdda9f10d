// May one more subagent be started? Pure: it sees how many there are, and says which bound is reached, in words that
// tell a model what to do about it.
import type { Config } from '../../config/schema.js';

type SubagentLimits = Config['limits']['subagents'];

interface Population {
  /** Of the new one: 1 below a turn of a person. */
  readonly depth: number;
  /** At work for the same turn, or waiting for their start. */
  readonly ofParent: number;
  readonly inAll: number;
  /** Starts within the time of the rate. */
  readonly recent: number;
}

interface LimitReached {
  readonly code: 'subagent_depth' | 'subagent_breadth' | 'subagent_total' | 'subagent_rate';
  readonly limit: number;
  readonly message: string;
}

/** Null when one more may be started. What stays true comes first, what time mends last. */
export function limitReached(
  subagents: SubagentLimits,
  { depth, ofParent, inAll, recent }: Population,
): LimitReached | null {
  if (depth > subagents.depth)
    return {
      code: 'subagent_depth',
      limit: subagents.depth,
      message: `subagents may be ${subagents.depth} below each other, and this would be number ${depth}; do the work here`,
    };
  if (ofParent >= subagents.breadth)
    return {
      code: 'subagent_breadth',
      limit: subagents.breadth,
      message: `${ofParent} subagents of this turn are at work, and ${subagents.breadth} may be; wait for one with subagent.await`,
    };
  if (inAll >= subagents.total)
    return {
      code: 'subagent_total',
      limit: subagents.total,
      message: `${inAll} subagents are at work in all, and ${subagents.total} may be; try again later`,
    };
  if (recent < subagents.rate.starts) return null;
  const perS = subagents.rate.per_ms / 1_000;
  return {
    code: 'subagent_rate',
    limit: subagents.rate.starts,
    message: `${recent} subagents were started within ${perS} s, and ${subagents.rate.starts} may be; wait a moment`,
  };
}

/** Starts of the last moments. `nowMs` is time that only grows. */
export class RecentStarts {
  readonly #perMs: number;
  #starts: number[] = [];

  constructor(perMs: number) {
    this.#perMs = perMs;
  }

  count(nowMs: number): number {
    this.#starts = this.#starts.filter((atMs) => nowMs - atMs < this.#perMs);
    return this.#starts.length;
  }

  add(nowMs: number): void {
    this.#starts.push(nowMs);
  }
}
