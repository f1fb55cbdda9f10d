// Subagents of one supervisor: their tools, and their end. One that nobody waits for any more ends with the turn that
// asked for it, and everything below it too.
import type { EndReason } from '../../shared/outcome.js';
import { SUBAGENT_RUN } from '../../shared/tools/subagent-tools.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { TurnRow } from '../store/rows.js';
import type { WaitingTool } from '../tools/waiting-tool.js';
import { awaitSubagentsTool } from './await.js';
import { openChildren, tokensBelow } from './family.js';
import { killTool } from './kill.js';
import { RecentStarts } from './limits.js';
import { listTool, statusTool } from './look.js';
import type { SubagentPorts } from './ports.js';
import { runTool, sendTool } from './run.js';

export class Subagents {
  readonly tools: Readonly<Record<string, WaitingTool>>;
  readonly #ports: SubagentPorts;

  constructor(ports: SubagentPorts) {
    this.#ports = ports;
    const starts = new RecentStarts(ports.limits.subagents.rate.per_ms);
    const tools: Readonly<Record<string, WaitingTool>> = {
      [SUBAGENT_RUN]: runTool(ports, starts),
      'subagent.send': sendTool(ports, starts),
      'subagent.await': awaitSubagentsTool(ports),
      'subagent.status': statusTool(ports),
      'subagent.list': listTool(ports),
      'subagent.kill': killTool(ports),
    };
    this.tools = Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, this.#charged(tool)]));
  }

  /** A turn is asked to end, or has ended: so are those that it asked for. */
  endBelow(turnId: string, reason: EndReason, now = false): void {
    const { store, keepsDetached, requestEnd } = this.#ports;
    for (const child of openChildren(store, turnId)) {
      if (child.options.detached && keepsDetached) continue;
      requestEnd(child.turn_id, reason === 'operator' || reason === 'drain' ? reason : 'cancel', now);
    }
  }

  /** Resolves when nothing that a turn asked for is open any more. */
  async settledBelow(turnId: string): Promise<void> {
    const { store, whenSettled } = this.#ports;
    const children = openChildren(store, turnId);
    await Promise.all(children.map((child) => whenSettled(child.turn_id)));
    await Promise.all(store.turns.ofParent(turnId).map((child: TurnRow) => this.settledBelow(child.turn_id)));
  }

  /** What subagents use counts for their parent, whenever it hears of them. */
  #charged(tool: WaitingTool): WaitingTool {
    const { store } = this.#ports;
    const charged = (turnId: string, result: ToolResult): ToolResult => ({
      ...result,
      subagent_tokens: tokensBelow(store, turnId),
    });
    return {
      ...tool,
      begin: (args, context) => {
        const begun = tool.begin(args, context);
        return 'content' in begun ? charged(context.turnId, begun) : begun;
      },
      arm: (wait, answer) =>
        tool.arm(wait, (result, beside) => answer(charged(wait.turn_id, result), beside)),
    };
  }
}
