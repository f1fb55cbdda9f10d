// Runs a plan over the history of its turn: results that are there are fed to it, and the first asks without any
// become the next round. A tool that the turn does not have is answered here, without a call.
import type { PlannedTool } from '../../../shared/tools/tool-plan.js';
import type { Message, ToolCall, ToolMessage } from '../../../shared/transcript/message.js';
import { failureOf } from './failure.js';
import type { Ask, Given, Plan, Told } from './plan.js';

export type Move =
  | { readonly kind: 'act'; readonly asks: readonly Ask[] }
  | { readonly kind: 'answer'; readonly told: Told };

interface Batch {
  readonly calls: readonly ToolCall[];
  readonly results: ReadonlyMap<string, ToolMessage>;
}

/** `messages` are those after the request. */
export function nextMove(plan: Plan, messages: readonly Message[], tools: readonly PlannedTool[]): Move {
  const known = new Set(tools.map((tool) => tool.name));
  const batches = batchesOf(messages);
  let step = plan.next();
  while (step.done !== true) {
    const asks = step.value;
    const possible = asks.filter((one) => known.has(one.tool));
    const batch = possible.length === 0 ? EMPTY : batches.shift();
    if (batch === undefined) return { kind: 'act', asks: possible };
    step = plan.next(givenTo(asks, known, batch));
  }
  return { kind: 'answer', told: step.value };
}

const EMPTY: Batch = { calls: [], results: new Map() };

/** Pairs asks with the calls of a round, in order. */
function givenTo(asks: readonly Ask[], known: ReadonlySet<string>, batch: Batch): Given[] {
  let next = 0;
  return asks.map((one) => {
    if (!known.has(one.tool)) return { content: null, failure: `this turn has no tool \`${one.tool}\`` };
    const call = batch.calls[next];
    next += 1;
    if (call === undefined || call.name !== one.tool)
      return { content: null, failure: `the history of this turn holds no such call of \`${one.tool}\`` };
    const result = batch.results.get(call.call_id);
    if (result === undefined) return { content: null, failure: `\`${one.tool}\` gave no result` };
    return { content: result.content, failure: result.is_error ? failureOf(result.content) : null };
  });
}

function batchesOf(messages: readonly Message[]): Batch[] {
  const batches: { calls: readonly ToolCall[]; results: Map<string, ToolMessage> }[] = [];
  for (const message of messages) {
    if (message.role === 'assistant' && message.calls.length > 0)
      batches.push({ calls: message.calls, results: new Map() });
    if (message.role === 'tool') batches.at(-1)?.results.set(message.call_id, message);
  }
  return batches;
}
