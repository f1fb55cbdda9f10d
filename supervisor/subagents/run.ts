// `subagent.run` and `subagent.send`: work is given away. The first may wait for the result, the second never does.
import type * as v from 'valibot';
import { newId } from '../../shared/ids.js';
import type { subagentRunParams, subagentSendParams } from '../../shared/tools/subagent-tools.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import { durationMs } from '../../shared/tools/waiting-tools.js';
import type { Allowance } from '../snapshot/turn-limits.js';
import type { TurnOptions, TurnRow, WaitRow } from '../store/rows.js';
import type { AnswerWait, BegunWait, WaitContext, WaitingTool } from '../tools/waiting-tool.js';
import { admit, depthBelow } from './admit.js';
import { callerOf, depthOf, lastTurnOf, subagentOf } from './family.js';
import type { RecentStarts } from './limits.js';
import type { SubagentPorts } from './ports.js';
import { roomFor, standingOf } from './standing.js';

type Run = v.InferOutput<typeof subagentRunParams>;

export function runTool(ports: SubagentPorts, starts: RecentStarts): WaitingTool {
  return {
    lends: true,
    begin: (args, context) => begin(ports, starts, args as Run, context),
    arm: (wait, answer) => arm(ports, wait, answer),
  };
}

function begin(
  ports: SubagentPorts,
  starts: RecentStarts,
  args: Run,
  { turnId, nowMs }: WaitContext,
): ToolResult | BegunWait {
  const caller = callerOf(ports.store, turnId);
  const handle = newId('subagent', nowMs);
  const admitted = admit(ports, starts, caller, {
    handle,
    depth: depthBelow(ports, caller),
    text: args.instruction,
    tools: args.tools,
    limits: limitsOf(args),
    options: optionsOf(args, caller.turn.options),
  });
  if ('refused' in admitted) return admitted.refused;
  const started = { handle, turn_id: admitted.turnId };
  if ((args.mode ?? 'sync') === 'sync') return { subject: started, wakeAtMs: null };
  return { content: { ...started, status: 'queued' }, is_error: false };
}

function optionsOf(args: Run, ofParent: TurnOptions): Pick<TurnOptions, 'model' | 'instruction'> {
  const model = args.model ?? ofParent.model;
  return {
    ...(model === undefined ? {} : { model }),
    ...(args.role === undefined ? {} : { instruction: args.role }),
    ...(args.output_schema === undefined ? {} : { output_schema: args.output_schema }),
    ...(args.mode === 'detached' ? { detached: true } : {}),
  };
}

function limitsOf({ limits = {} }: Run): Partial<Allowance> {
  const { steps, tokens, deadline } = limits;
  return {
    ...(steps === undefined ? {} : { rounds: steps }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(deadline === undefined ? {} : { deadline_ms: durationMs(deadline) ?? 0 }),
  };
}

/** Also after a restart: a subagent that ended meanwhile answers at once. */
function arm(ports: SubagentPorts, wait: WaitRow, answer: AnswerWait): () => void {
  let over = false;
  const { turn_id: childId } = wait.subject as { readonly turn_id: string };
  const tell = (row: TurnRow): void => {
    if (over) return;
    over = true;
    const told = { threadId: wait.thread_id, turnId: wait.turn_id, nowMs: ports.clock.now(), newId };
    const { view, failed, keep } = standingOf(ports.store, row, told, roomFor(1));
    answer({ content: view, is_error: failed }, keep);
  };
  void ports.whenSettled(childId).then(tell);
  return () => {
    over = true;
  };
}

export function sendTool(ports: SubagentPorts, starts: RecentStarts): WaitingTool {
  return {
    begin: (args, { turnId, threadId }) => {
      const { handle, message } = args as v.InferOutput<typeof subagentSendParams>;
      const { store } = ports;
      const thread = subagentOf(store, threadId, handle);
      if (thread === undefined) return toolError(`this conversation has no subagent ${handle}`);
      const { options } = lastTurnOf(store, handle);
      const { tools, limits, permission_mode: _mode, ...rest } = options;
      const caller = callerOf(store, turnId);
      // It may do what it might before, as far as this turn still may.
      const admitted = admit(ports, starts, caller, {
        ...{ handle, depth: depthOf(store, thread), text: message },
        tools: tools?.filter((name) => caller.turn.options.tools?.includes(name) ?? true),
        ...{ limits: limits ?? {}, options: rest },
      });
      if ('refused' in admitted) return admitted.refused;
      return { content: { handle, turn_id: admitted.turnId, status: 'queued' }, is_error: false };
    },
    arm: () => () => undefined,
  };
}
