// `subagent.await`: until subagents have nothing left to do, all of them or the first.
import type * as v from 'valibot';
import { newId } from '../../shared/ids.js';
import type { subagentAwaitParams } from '../../shared/tools/subagent-tools.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import type { TurnRow, WaitRow } from '../store/rows.js';
import type { AnswerWait, WaitingTool } from '../tools/waiting-tool.js';
import { wakeAt } from '../tools/wake-at.js';
import { lastTurnOf, subagentOf } from './family.js';
import type { SubagentPorts } from './ports.js';
import { roomFor, type Standing, standingOf, type Told } from './standing.js';

/** As it is stored: a handle stands for what the subagent had to do when the wait began. */
interface Subject {
  readonly turns: readonly string[];
  readonly mode: 'all' | 'any';
  /** One handle was named, and its result is told without a list around it. */
  readonly single: boolean;
}

export function awaitSubagentsTool(ports: SubagentPorts): WaitingTool {
  return {
    lends: true,
    begin: (args, context) => {
      const { handle, mode = 'all', timeout_s: timeoutS } = args as v.InferOutput<typeof subagentAwaitParams>;
      const single = typeof handle === 'string';
      const turns: TurnRow[] = [];
      for (const each of new Set(single ? [handle] : handle)) {
        if (subagentOf(ports.store, context.threadId, each) === undefined)
          return toolError(`this conversation has no subagent ${each}`);
        turns.push(lastTurnOf(ports.store, each));
      }
      const subject: Subject = { turns: turns.map((turn) => turn.turn_id), mode, single };
      if (isOver(subject, turns) || timeoutS === 0) {
        const { result, keep } = resultOf(ports, subject, turns, context);
        keep();
        return result;
      }
      const wakeAtMs = timeoutS === undefined ? null : context.nowMs + timeoutS * 1_000;
      return { subject: { ...subject, turns: [...subject.turns] }, wakeAtMs };
    },
    arm: (wait, answer) => arm(ports, wait, answer),
  };
}

function arm(ports: SubagentPorts, wait: WaitRow, answer: AnswerWait): () => void {
  const { store, clock } = ports;
  const subject = wait.subject as unknown as Subject;
  const settled = new Map<string, TurnRow>();
  let cancel = (): void => undefined;
  let over = false;
  const stop = (): void => {
    over = true;
    cancel();
  };
  const look = (timedOut: boolean): void => {
    if (over) return;
    const turns = subject.turns.flatMap((id) => settled.get(id) ?? store.turns.get(id) ?? []);
    if (!timedOut && !isOver(subject, turns)) return;
    stop();
    const told = { threadId: wait.thread_id, turnId: wait.turn_id, nowMs: clock.now(), newId };
    const { result, keep } = resultOf(ports, subject, turns, told);
    answer(result, keep);
  };
  if (wait.wake_at_ms !== null) cancel = wakeAt(clock, wait.wake_at_ms, () => look(true));
  for (const turnId of subject.turns)
    void ports.whenSettled(turnId).then((row) => {
      settled.set(turnId, row);
      look(false);
    });
  return stop;
}

function isOver({ mode }: Subject, turns: readonly TurnRow[]): boolean {
  const ended = (turn: TurnRow): boolean => turn.status !== null;
  return mode === 'any' ? turns.some(ended) : turns.every(ended);
}

function resultOf(
  { store }: SubagentPorts,
  subject: Subject,
  turns: readonly TurnRow[],
  told: Told,
): { readonly result: ToolResult; readonly keep: () => void } {
  const ended = turns.filter((turn) => turn.status !== null).length;
  const all = turns.map((turn) => standingOf(store, turn, told, roomFor(Math.max(1, ended))));
  const timedOut = !isOver(subject, turns);
  const [one] = all;
  const result: ToolResult =
    subject.single && one !== undefined
      ? { content: { ...one.view, timed_out: timedOut }, is_error: one.failed }
      : { content: { subagents: all.map(({ view }) => view), timed_out: timedOut }, is_error: false };
  return { result, keep: () => keepAll(all) };
}

function keepAll(all: readonly Standing[]): void {
  for (const { keep } of all) keep();
}
