// `subagent.kill`: what a subagent has to do is ended the way any turn is, and the call returns when that is so. As a
// wait it is durable: a restart in between changes nothing about it.
import type * as v from 'valibot';
import type { subagentKillParams } from '../../shared/tools/subagent-tools.js';
import { toolError } from '../../shared/tools/tool-result.js';
import type { WaitingTool } from '../tools/waiting-tool.js';
import { lastTurnOf, subagentOf } from './family.js';
import type { SubagentPorts } from './ports.js';
import { statusOf } from './standing.js';

interface Subject {
  readonly handle: string;
  readonly turns: readonly string[];
}

export function killTool(ports: SubagentPorts): WaitingTool {
  const { store } = ports;
  return {
    begin: (args, { threadId }) => {
      const { handle } = args as v.InferOutput<typeof subagentKillParams>;
      if (subagentOf(store, threadId, handle) === undefined)
        return toolError(`this conversation has no subagent ${handle}`);
      const open = store.turns.ofThread(handle).filter((turn) => turn.state !== 'ended');
      if (open.length > 0)
        return { subject: { handle, turns: open.map((turn) => turn.turn_id) }, wakeAtMs: null };
      const content = { handle, ended: 0, status: statusOf(lastTurnOf(store, handle)) };
      return { content, is_error: false };
    },
    arm: (wait, answer) => {
      const { handle, turns } = wait.subject as unknown as Subject;
      let over = false;
      const settled = turns.map((turnId) => ports.whenSettled(turnId));
      // The last one first: none of them starts because another has made way.
      for (const turnId of turns.toReversed()) ports.requestEnd(turnId, 'cancel');
      void Promise.all(settled).then((rows) => {
        if (over) return;
        const last = rows.at(-1);
        const status = last === undefined ? 'cancelled' : statusOf(last);
        answer({ content: { handle, ended: turns.length, status }, is_error: false });
      });
      return () => {
        over = true;
      };
    },
  };
}
