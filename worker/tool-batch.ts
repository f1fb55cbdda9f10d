// Runs the calls of one answer. Read-only ones run side by side, all others alone and in order, so a write waits for the
// reads before it and the reads after it wait for it. Results stand in order of the answer, whoever finished first; a
// call that fails is a result like any other and stops nobody.
import { canonicalJson, type JsonObject } from '../shared/json.js';
import type { PlannedTool } from '../shared/tools/tool-plan.js';
import { type ToolResult, toolError } from '../shared/tools/tool-result.js';
import type { ToolCall, ToolMessage } from '../shared/transcript/message.js';
import { comparable } from './comparable.js';
import type { GuardedCall, LoopVerdict } from './loop-guard.js';
import type { ReadCall } from './read-calls.js';
import type { Turn } from './turn-state.js';

/** The tool by which a model ends its turn. */
const FINISH = 'finish';
/** The tool by which a model folds its transcript: done before its next answer, with all results of this one in it. */
const COMPACT = 'context.compact';

interface BatchEnd {
  /** One per call in order of the answer; a call that was not started or never reported because the turn ended has none here, and gets its result when the turn is settled. */
  readonly results: readonly ToolMessage[];
  /** Remarks for the model about repeats. */
  readonly hints: readonly string[];
  /** Set when the calls go round in circles: the turn ends. */
  readonly loop: string | null;
  /** Arguments of the first `finish` that succeeded. */
  readonly finish: JsonObject | null;
  /** The model asked for its transcript to be folded. */
  readonly compact: boolean;
  /** No call of the answer could be run as it was sent. */
  readonly allInvalid: boolean;
}

interface Planned {
  readonly call: ToolCall;
  readonly tool: PlannedTool;
  /** Place in the answer. */
  readonly at: number;
}

interface Batch {
  readonly turn: Turn;
  /** Index in the turn of the answer's first call. */
  readonly firstIndex: number;
  readonly results: (ToolMessage | null)[];
  readonly hints: string[];
  loop: string | null;
  finish: JsonObject | null;
  compact: boolean;
  /** Calls that could not be run as they were sent. */
  invalid: number;
}

export async function runBatch(turn: Turn, calls: readonly ReadCall[]): Promise<BatchEnd> {
  const batch: Batch = {
    turn,
    firstIndex: turn.calls,
    results: calls.map(() => null),
    hints: [],
    loop: null,
    finish: null,
    compact: false,
    invalid: 0,
  };
  turn.calls += calls.length;
  const planned: Planned[] = [];
  for (const [at, read] of calls.entries()) {
    if ('problem' in read) answerOurselves(batch, at, read.call, read.problem);
    else planned.push({ ...read, at });
  }
  for (const group of groupsOf(planned)) await runGroup(batch, group);
  if (batch.loop !== null) sealUnstarted(batch, calls);
  const { hints, loop, finish, compact } = batch;
  const results = batch.results.filter((result) => result !== null);
  return { results, hints, loop, finish, compact, allInvalid: batch.invalid === calls.length };
}

/** Neighbouring read-only calls form a group; every other call is a group of its own. */
function groupsOf(planned: readonly Planned[]): Planned[][] {
  const groups: Planned[][] = [];
  for (const one of planned) {
    const last = groups.at(-1);
    if (one.tool.read_only && last?.[0]?.tool.read_only === true) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

/** Starts calls in order, at most `parallel_calls` at a time; none after the turn must end. */
async function runGroup(batch: Batch, group: readonly Planned[]): Promise<void> {
  const queue = group.values();
  const lane = async (): Promise<void> => {
    for (const one of queue) await runCall(batch, one);
  };
  const lanes = Math.max(1, Math.min(batch.turn.snapshot.limits.parallel_calls, group.length));
  await Promise.all(Array.from({ length: lanes }, lane));
}

async function runCall(batch: Batch, { call, tool, at }: Planned): Promise<void> {
  const { turn } = batch;
  if (batch.loop !== null || turn.end.why() !== null) return;
  const guarded: GuardedCall = {
    round: turn.rounds,
    tool: tool.name,
    argumentsText: canonicalJson(call.arguments),
    polls: tool.polls,
  };
  if (!heed(batch, turn.loops.begin(guarded))) return;
  turn.toolCalls += 1;
  const result = await turn.end.orLeft(
    turn.link.callTool({
      call_id: call.call_id,
      round: turn.rounds,
      index: batch.firstIndex + at,
      tool: tool.name,
      arguments: call.arguments,
    }),
  );
  if (result === null) return;
  batch.results[at] = messageOf(call, result);
  turn.subagentTokens = Math.max(turn.subagentTokens, result.subagent_tokens ?? 0);
  if (result.invalid) batch.invalid += 1;
  if (tool.name === FINISH && !result.is_error) batch.finish ??= call.arguments;
  if (tool.name === COMPACT && !result.is_error) batch.compact = true;
  heed(batch, turn.loops.finish(guarded, comparable(result.content)));
}

/** Notes what the guard says; false when the call must not run. */
function heed(batch: Batch, verdict: LoopVerdict): boolean {
  if (verdict.kind === 'hint') batch.hints.push(verdict.text);
  if (verdict.kind === 'loop') batch.loop ??= verdict.text;
  return verdict.kind !== 'loop';
}

function messageOf(call: ToolCall, { content, is_error }: ToolResult): ToolMessage {
  return { role: 'tool', call_id: call.call_id, name: call.name, content, is_error };
}

/** A call that goes to nobody: its result is our sentence. */
function answerOurselves(batch: Batch, at: number, call: ToolCall, message: string): void {
  batch.turn.link.progress({ event: 'invalid_call', call_id: call.call_id, tool: call.name, message });
  batch.results[at] = messageOf(call, toolError(message));
  batch.invalid += 1;
}

function sealUnstarted(batch: Batch, calls: readonly ReadCall[]): void {
  if (batch.turn.end.why() !== null) return;
  for (const [at, { call }] of calls.entries())
    if (batch.results[at] === null)
      answerOurselves(batch, at, call, 'not run: the turn ended because its calls repeat themselves');
}
