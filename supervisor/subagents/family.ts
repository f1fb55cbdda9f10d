// Who belongs to whom: a subagent is a thread that names the turn which started it, and each of its turns names the turn
// that asked for it. Reads only.
import type { Config } from '../../config/schema.js';
import { toolPlan } from '../snapshot/tool-plan.js';
import { type Allowance, allowanceOf } from '../snapshot/turn-limits.js';
import type { InboxRow, ThreadRow, TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';

/** The turn that calls, and on whose behalf. */
export interface Caller {
  readonly turn: TurnRow;
  readonly thread: ThreadRow;
  readonly message: InboxRow;
}

export function callerOf(store: Store, turnId: string): Caller {
  const turn = store.turns.get(turnId);
  const message = store.inbox.ofTurn(turnId);
  const thread = turn === undefined ? undefined : store.threads.get(turn.thread_id);
  if (turn === undefined || message === undefined || thread === undefined)
    throw new TypeError(`turn ${turnId} has no message`);
  return { turn, thread, message };
}

/** How far below a conversation of a person; 0 for such a one. */
export function depthOf(store: Store, thread: ThreadRow): number {
  let depth = 0;
  let at: ThreadRow | undefined = thread;
  while (at !== undefined && at.parent_turn_id !== null) {
    depth += 1;
    const parent = store.turns.get(at.parent_turn_id);
    at = parent === undefined ? undefined : store.threads.get(parent.thread_id);
  }
  return depth;
}

/** The subagent of that name, if a turn of this thread started it. */
export function subagentOf(store: Store, threadId: string, handle: string): ThreadRow | undefined {
  const thread = store.threads.get(handle);
  if (thread === undefined || thread.parent_turn_id === null) return undefined;
  return store.turns.get(thread.parent_turn_id)?.thread_id === threadId ? thread : undefined;
}

/** What it was asked last. */
export function lastTurnOf(store: Store, handle: string): TurnRow {
  const last = store.turns.ofThread(handle).at(-1);
  if (last === undefined) throw new TypeError(`subagent ${handle} has no turn`);
  return last;
}

/** Turns of subagents that this turn asked for and that have not ended. */
export function openChildren(store: Store, turnId: string): TurnRow[] {
  return store.turns
    .ofParent(turnId)
    .filter((turn) => turn.state !== 'ended' && store.inbox.ofTurn(turn.turn_id)?.producer === 'subagent');
}

export function toolsOf({ options }: TurnRow): string[] {
  return toolPlan()
    .map(({ name }) => name)
    .filter((name) => options.tools?.includes(name) ?? true);
}

/** What is left of a turn's allowance, what its subagents used included. */
export function leftOf(store: Store, run: Config['limits']['run'], turn: TurnRow, nowMs: number): Allowance {
  const most = allowanceOf(run, turn.options);
  const { input_tokens, output_tokens } = store.usage.ofTree(turn.turn_id);
  return {
    rounds: Math.max(1, most.rounds - store.usage.lastCall(turn.turn_id, 'turn')),
    tokens: Math.max(0, most.tokens - input_tokens - output_tokens),
    deadline_ms: Math.max(0, most.deadline_ms - activeMs(store, turn, nowMs)),
  };
}

/** How long it ran, its window of now included. */
function activeMs(store: Store, turn: TurnRow, nowMs: number): number {
  let sinceMs = turn.started_at_ms ?? nowMs;
  if (turn.windows > 1)
    for (const { event, at_ms: atMs } of store.events.ofTurn(turn.turn_id))
      if (event.kind === 'window_opened') sinceMs = atMs;
  return turn.active_ms + Math.max(0, nowMs - sinceMs);
}

/** Tokens that subagents of a turn have used so far. */
export function tokensBelow(store: Store, turnId: string): number {
  const all = store.usage.ofTree(turnId);
  const own = store.usage.ofTurn(turnId);
  return all.input_tokens + all.output_tokens - own.input_tokens - own.output_tokens;
}
