// The only way a tool call happens: check, judge, commit the intent, then run it here or grant it to the worker.
// An effect on the world lies between two commits, never inside one; our own state changes with its result.
import * as v from 'valibot';
import { newId } from '../../shared/ids.js';
import type { JournalEvent } from '../../shared/journal.js';
import { canonicalJson, type JsonObject } from '../../shared/json.js';
import { behaviourOf } from '../../shared/policy/permission-mode.js';
import { toolSpec } from '../../shared/tools/catalogue.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import type { ToolSpec } from '../../shared/tools/tool-spec.js';
import { beginWait } from './begin-wait.js';
import {
  type Intent,
  intentOf,
  record,
  resultEvent,
  type Send,
  type ToolRequest,
  type Verdict,
} from './call-record.js';
import { STATE_TOOLS_RUN } from './registry.js';
import { flushJournal, journal, type RunningTurn } from './running-turn.js';

const NOT_LIVE = 'the turn is ending; nothing more is started';

/** Answers one request, now or when somebody has answered the question that it raises. */
export async function executeCall(turn: RunningTurn, request: ToolRequest, send: Send): Promise<void> {
  turn.toolCalls += 1;
  const spec = plannedSpec(turn, request.tool);
  if (spec === undefined) {
    refuseInvalid(turn, request, `there is no tool ${request.tool}`, send);
    return;
  }
  const parsed = v.safeParse(spec.params, request.arguments);
  if (!parsed.success) {
    refuseInvalid(turn, request, `invalid arguments: ${describeIssues(parsed.issues)}`, send);
    return;
  }
  const args = parsed.output as JsonObject;
  const verdict = await judge(turn, request, spec, args);
  // Whoever closed the window has given this call its result.
  if (turn.closed) return;
  if (verdict.verdict === 'deny') deny(turn, request, args, verdict, send);
  else if (spec.waits) beginOrRefuse(turn, request, args, verdict, send);
  else if (spec.runs === 'supervisor') runHere(turn, request, args, verdict, send);
  else grant(turn, request, args, verdict, send);
}

function plannedSpec(turn: RunningTurn, name: string): ToolSpec | undefined {
  return turn.snapshot.tools.some((tool) => tool.name === name) ? toolSpec(name) : undefined;
}

async function judge(
  turn: RunningTurn,
  request: ToolRequest,
  spec: ToolSpec,
  args: JsonObject,
): Promise<Verdict> {
  if (turn.ending) return { verdict: 'deny', reason: NOT_LIVE };
  const mode = turn.snapshot.security.mode;
  if (behaviourOf(mode, spec.action) === 'allow') return { verdict: 'allow', reason: `mode ${mode}` };
  const answer = await turn.ask({
    turnId: turn.turnId,
    callId: request.call_id,
    tool: request.tool,
    arguments: canonicalJson(args),
  });
  // The world may have changed while somebody thought about it.
  if (turn.ending) return { verdict: 'deny', reason: NOT_LIVE };
  if (answer === 'allow')
    return { verdict: 'allow', reason: `mode ${mode}: allowed when asked`, asked: true };
  const reason =
    answer === 'nobody'
      ? `mode ${mode} asks before ${spec.action} actions, and nobody is there to answer`
      : `mode ${mode}: refused when asked`;
  return { verdict: 'deny', reason, asked: true };
}

function deny(turn: RunningTurn, request: ToolRequest, args: JsonObject, verdict: Verdict, send: Send): void {
  notRun(turn, request, intentOf(request, args, verdict, 'nowhere'), toolError(verdict.reason), send);
}

/** A call that makes no sense. The worker counts such calls: a model that sends nothing else is not asked for ever. */
function refuseInvalid(turn: RunningTurn, request: ToolRequest, reason: string, send: Send): void {
  const intent = intentOf(request, request.arguments, { verdict: 'deny', reason }, 'nowhere');
  notRun(turn, request, intent, { ...toolError(reason), invalid: true }, send);
}

function notRun(
  turn: RunningTurn,
  request: ToolRequest,
  intent: Intent,
  result: ToolResult,
  send: Send,
): void {
  const events = [intent, resultEvent(request, result, result.invalid ? 'invalid' : 'denied', 0)];
  journal(turn, 'record_intent', events, () => record(turn, request, intent.arguments, 'deny'));
  send({ type: 'tool_answered', id: request.id, result });
}

function grant(
  turn: RunningTurn,
  request: ToolRequest,
  args: JsonObject,
  verdict: Verdict,
  send: Send,
): void {
  journal(turn, 'record_intent', [intentOf(request, args, verdict, 'worker')], () =>
    record(turn, request, args, 'grant'),
  );
  turn.granted.set(request.id, { callId: request.call_id, tool: request.tool });
  send({ type: 'tool_granted', id: request.id, arguments: args });
}

/** A tool that nobody handed in is not there. */
function beginOrRefuse(
  turn: RunningTurn,
  request: ToolRequest,
  args: JsonObject,
  verdict: Verdict,
  send: Send,
): void {
  const tool = turn.waits.tool(request.tool);
  const reason = `${request.tool} is not available here`;
  if (tool === undefined) deny(turn, request, args, { verdict: 'deny', reason }, send);
  else beginWait(turn, request, tool, args, verdict, send);
}

/** The change, its intent and its result are one transaction: all three or none. */
function runHere(
  turn: RunningTurn,
  request: ToolRequest,
  args: JsonObject,
  verdict: Verdict,
  send: Send,
): void {
  const run = STATE_TOOLS_RUN[request.tool];
  if (run === undefined) throw new TypeError(`no behaviour for ${request.tool}`);
  flushJournal(turn);
  const startedMs = turn.clock.monotonic();
  const now = turn.clock.now();
  const masked = turn.masker.json(args);
  let result: ToolResult = toolError('not run');
  const events: JournalEvent[] = turn.store.transact('state_tool', () => {
    record(turn, request, args, 'grant');
    result = run(masked, {
      store: turn.store,
      threadId: turn.threadId,
      turnId: turn.turnId,
      nowMs: now,
      newId,
    });
    turn.store.calls.transition(request.call_id, 'finish');
    const written = [
      intentOf(request, masked, verdict, 'supervisor'),
      resultEvent(request, result, 'done', turn.clock.monotonic() - startedMs),
    ];
    const kept = written.map((event) => turn.masker.kept(event as never) as JournalEvent);
    for (const event of kept) turn.store.events.append(turn.turnId, turn.threadId, event, now);
    return kept;
  });
  for (const event of events) turn.live(turn.turnId, { type: 'journal', event });
  send({ type: 'tool_answered', id: request.id, result });
}

function describeIssues(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues
    .slice(0, 5)
    .map((issue) => `${v.getDotPath(issue) ?? 'arguments'}: ${issue.message}`)
    .join('; ');
}
