// Accepts a message to a subagent, new or not: its turn is part of the transaction that records the call, so it is there
// exactly when the transcript of its parent says so.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import type { Accepted } from '../intake/accept-message.js';
import type { Allowance } from '../snapshot/turn-limits.js';
import { lesserOf } from '../snapshot/turn-limits.js';
import type { TurnOptions } from '../store/rows.js';
import { type Caller, depthOf, leftOf, openChildren, toolsOf } from './family.js';
import { limitReached, type RecentStarts } from './limits.js';
import { narrowedTools } from './narrowing.js';
import type { SubagentPorts } from './ports.js';

/** What is asked for, before it is held against what the parent may and has left. */
export interface Asked {
  readonly handle: string;
  /** 1 below a conversation of a person. */
  readonly depth: number;
  readonly text: string;
  readonly tools: readonly string[] | undefined;
  readonly limits: Partial<Allowance>;
  /** The rest of its options, as they are. */
  readonly options: Omit<TurnOptions, 'tools' | 'limits' | 'permission_mode'>;
}

export function admit(
  ports: SubagentPorts,
  starts: RecentStarts,
  caller: Caller,
  asked: Asked,
): Accepted | { readonly refused: ToolResult } {
  const { clock } = ports;
  const options = optionsOf(ports, starts, caller, asked);
  if ('refused' in options) return options;
  const { store } = ports;
  const accepted = ports.accept({
    threadId: asked.handle,
    workspaceRoot: store.workspaces.get(caller.thread.workspace_id)?.root ?? '/',
    principal: caller.message.principal,
    text: asked.text,
    producer: 'subagent',
    // Who waits for the parent waits for this too.
    lane: caller.message.lane,
    hop: caller.message.hop,
    parentTurnId: caller.turn.turn_id,
    options: options.granted,
  });
  if (!accepted.ok) return no(accepted.message, { code: accepted.code });
  starts.add(clock.monotonic());
  return accepted;
}

function optionsOf(
  ports: SubagentPorts,
  starts: RecentStarts,
  caller: Caller,
  asked: Asked,
): { readonly granted: TurnOptions } | { readonly refused: ToolResult } {
  const { store, clock, limits } = ports;
  const { turn } = caller;
  if (ports.shedding())
    return no('disk or memory run short; nothing new is begun until that is over', { code: 'pressure' });
  const reached = limitReached(limits.subagents, {
    depth: asked.depth,
    ofParent: openChildren(store, turn.turn_id).length,
    inAll: store.turns.openOfSubagents(),
    recent: starts.count(clock.monotonic()),
  });
  if (reached !== null) return no(reached.message, { code: reached.code, limit: reached.limit });
  const deepest = asked.depth >= limits.subagents.depth;
  const narrowed = narrowedTools(toolsOf(turn), asked.tools, deepest);
  if ('missing' in narrowed) return no(`this turn has no tool ${narrowed.missing.join(', ')}`);
  const { model } = asked.options;
  if (model !== undefined && !ports.isModel(model)) return no(`there is no model ${model} for turns`);
  const left = leftOf(store, limits.run, turn, clock.now());
  if (left.tokens === 0 || left.deadline_ms === 0)
    return no('this turn has nothing left that a subagent could use', { code: 'allowance' });
  const { permission_mode: mode } = turn.options;
  return {
    granted: {
      ...asked.options,
      ...(mode === undefined ? {} : { permission_mode: mode }),
      tools: narrowed.tools,
      limits: lesserOf(left, asked.limits),
    },
  };
}

function no(message: string, details: JsonObject = {}): { readonly refused: ToolResult } {
  return { refused: toolError(message, details as Record<string, JsonValue>) };
}

/** Of a new subagent of this caller. */
export function depthBelow(ports: SubagentPorts, { thread }: Caller): number {
  return depthOf(ports.store, thread) + 1;
}
