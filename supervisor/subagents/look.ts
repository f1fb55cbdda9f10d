// `subagent.status` and `subagent.list`: how subagents stand at this moment. Nothing is waited for.
import type * as v from 'valibot';
import type { subagentHandleParams } from '../../shared/tools/subagent-tools.js';
import { toolError } from '../../shared/tools/tool-result.js';
import { cutText } from '../../shared/transcript/unicode.js';
import type { WaitingTool } from '../tools/waiting-tool.js';
import { lastTurnOf, subagentOf } from './family.js';
import type { SubagentPorts } from './ports.js';
import { roomFor, standingOf, statusOf } from './standing.js';

const LISTED_MAX = 100;
const TASK_BYTES = 200;

export function statusTool({ store }: SubagentPorts): WaitingTool {
  return {
    begin: (args, context) => {
      const { handle } = args as v.InferOutput<typeof subagentHandleParams>;
      if (subagentOf(store, context.threadId, handle) === undefined)
        return toolError(`this conversation has no subagent ${handle}`);
      const { view, keep } = standingOf(store, lastTurnOf(store, handle), context, roomFor(1));
      keep();
      return { content: view, is_error: false };
    },
    arm: () => () => undefined,
  };
}

export function listTool({ store }: SubagentPorts): WaitingTool {
  return {
    begin: (_args, { threadId }) => {
      const threads = store.threads.startedBy(threadId, LISTED_MAX + 1);
      const subagents = threads.slice(0, LISTED_MAX).map(({ thread_id: handle, created_at_ms }) => {
        const last = lastTurnOf(store, handle);
        const task = store.inbox.ofTurn(last.turn_id)?.text ?? '';
        const at = new Date(created_at_ms).toISOString();
        return { handle, status: statusOf(last), task: cutText(task, TASK_BYTES), started_at: at };
      });
      return { content: { subagents, truncated: threads.length > LISTED_MAX }, is_error: false };
    },
    arm: () => () => undefined,
  };
}
