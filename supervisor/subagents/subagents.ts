// Subagents of one supervisor: their tools, and their end. One that nobody waits for any more ends with the turn that
// asked for it, and everything below it too.
import type { EndReason } from '../../shared/outcome.js';
import { SUBAGENT_RUN } from '../../shared/tools/subagent-tools.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { WaitingTool } from '../tools/waiting-tool.js';
import { awaitSubagentsTool } from './await.js';
import { openChildren, tokensBelow } from './family.js';
import { killTool } from './kill.js';
import { RecentStarts } from './limits.js';
import { listTool, statusTool } from './look.js';
import type { SubagentPorts } from './ports.js';
import { runTool, sendTool } from './run.js';

/** How long to wait with what the store did not take. */
const AGAIN_MS = 5_000;

export class Subagents {
  readonly tools: Readonly<Record<string, WaitingTool>>;
  readonly #ports: SubagentPorts;
  /** Turns whose end could not be written down. */
  readonly #unrecorded = new Set<string>();

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
    const { store, clock, keepsDetached, requestEnd } = this.#ports;
    const why = reason === 'operator' || reason === 'drain' ? reason : 'cancel';
    for (const child of openChildren(store, turnId)) {
      if (child.options.detached && keepsDetached) continue;
      try {
        requestEnd(child.turn_id, why, now);
      } catch {
        // The store takes nothing now, as on a full disk: what has no worker stays in the queue until it does.
        this.#unrecorded.add(child.turn_id);
        clock.after(AGAIN_MS, () => this.#endLater(turnId, why));
      }
    }
  }

  #endLater(turnId: string, reason: EndReason): void {
    try {
      this.endBelow(turnId, reason);
    } catch {
      // Closed meanwhile: the next start ends them.
    }
  }

  /** Resolves when nothing that a turn asked for is at work any more. */
  async settledBelow(turnId: string): Promise<void> {
    const { store, whenSettled } = this.#ports;
    const open = openChildren(store, turnId).filter((child) => !this.#unrecorded.has(child.turn_id));
    await Promise.all(open.map((child) => whenSettled(child.turn_id)));
    await Promise.all(store.turns.ofParent(turnId).map((child) => this.settledBelow(child.turn_id)));
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
