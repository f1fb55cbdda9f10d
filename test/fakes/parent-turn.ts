// A turn on the stage that gives work to subagents: its calls, and what it is answered.
import type { TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject } from '../../shared/json.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import { assistant, done, request, type Stage, settleDown, worker } from './dispatch-stage.js';
import type { PlayedWorker } from './played-worker.js';

type ResultEvent = Extract<JournalEvent, { kind: 'tool_result' }>;

export interface Parent {
  readonly id: string;
  readonly w: PlayedWorker;
  /** Sends a call; its answer, or undefined while it waits. */
  call(tool: string, args: JsonObject): Promise<ToolResult | undefined>;
  /** Of the call with this number, from 1. */
  answer(n: number): ToolResult | undefined;
}

/** Of a message that is accepted now, or of the turn that a worker has. */
export async function parent(
  s: Stage,
  at: { readonly message?: string; readonly index: number },
): Promise<Parent> {
  if (at.message !== undefined) s.accept(at.message);
  const w = await worker(s, at.index);
  const frame = w.sent[0];
  if (frame?.type !== 'turn') throw new Error('no turn was sent');
  const id = frame.snapshot.turn_id;
  let calls = 0;
  const answer = (n: number): ToolResult | undefined =>
    w.sent.flatMap((each) => (each.type === 'tool_answered' && each.id === n ? [each.result] : []))[0];
  return {
    id,
    w,
    answer,
    call: async (tool, args) => {
      calls += 1;
      const callId = `call_${id}_${calls}`;
      w.say(assistant([{ call_id: callId, name: tool, arguments: args }]));
      w.say(request(calls, callId, tool, args));
      await settleDown();
      await settleDown();
      return answer(calls);
    },
  };
}

/** The fields of an answer. */
export function contentOf(result: ToolResult | undefined): JsonObject {
  const content = result?.content;
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new Error(`no answer with fields: ${JSON.stringify(result)}`);
  return content;
}

/** Asks for a subagent that is not waited for; its handle. */
export async function started(p: Parent, instruction = 'Look.', mode = 'async'): Promise<string> {
  const content = contentOf(await p.call('subagent.run', { instruction, mode }));
  return String(content.handle);
}

/** The turn of a subagent that a worker has ends with this answer. */
export async function answers(s: Stage, index: number, reply: string): Promise<void> {
  const w = await worker(s, index);
  w.say(done('completed', reply));
  w.die({});
  await settleDown();
  await settleDown();
}

export function snapshotOf({ w }: Parent): TurnSnapshot {
  const frame = w.sent[0];
  if (frame?.type !== 'turn') throw new Error('no turn was sent');
  return frame.snapshot;
}

export const resultsOf = (s: Stage, turnId: string): ResultEvent[] =>
  s.store.events.ofTurn(turnId).flatMap(({ event }) => (event.kind === 'tool_result' ? [event] : []));
