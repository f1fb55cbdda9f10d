// What a turn called in earlier windows, told to the guard of this one: a loop is no smaller for having been interrupted.
import type { TurnSnapshot } from '../shared/ipc/turn-snapshot.js';
import { canonicalJson } from '../shared/json.js';
import type { AssistantMessage, ToolMessage } from '../shared/transcript/message.js';
import { comparable } from './comparable.js';
import type { GuardedCall, LoopGuard } from './loop-guard.js';

/** Of the snapshot's transcript, what stands behind the last message of a person is this turn's own. */
export function recallCalls(loops: LoopGuard, { messages, tools }: TurnSnapshot): void {
  const own = messages.slice(messages.findLastIndex((message) => message.role === 'user') + 1);
  const results = new Map(own.flatMap((one) => (one.role === 'tool' ? [[one.call_id, one] as const] : [])));
  let round = 0;
  for (const message of own) {
    if (message.role !== 'assistant') continue;
    round -= 1;
    for (const call of message.calls) recall(loops, call, results.get(call.call_id), round, tools);
  }
}

function recall(
  loops: LoopGuard,
  call: AssistantMessage['calls'][number],
  result: ToolMessage | undefined,
  round: number,
  tools: TurnSnapshot['tools'],
): void {
  const tool = tools.find(({ name }) => name === call.name);
  // A call whose arguments could not be read stands there without them, and was not counted.
  if (tool === undefined || (result?.is_error === true && Object.keys(call.arguments).length === 0)) return;
  const guarded: GuardedCall = {
    round,
    tool: tool.name,
    argumentsText: canonicalJson(call.arguments),
    polls: tool.polls,
  };
  loops.begin(guarded);
  if (result !== undefined) loops.finish(guarded, comparable(result.content));
}
