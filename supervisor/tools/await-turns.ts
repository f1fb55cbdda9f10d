// `await`: other turns are watched until they have ended. What a turn may watch is what belongs to the owner of its own
// thread; and never itself, which would wait for ever.
import type * as v from 'valibot';
import type { Clock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import { AWAIT_DEFAULT_S, type awaitParams } from '../../shared/tools/waiting-tools.js';
import { cutText } from '../../shared/transcript/unicode.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import type { WaitContext, WaitingTool } from './waiting-tool.js';
import { wakeAt } from './wake-at.js';

export interface AwaitPorts {
  readonly store: Store;
  readonly clock: Clock;
  whenSettled(turnId: string): Promise<TurnRow>;
}

/** What is waited for, as it is stored: a thread stands for the turns that it had to do when the wait began. */
interface Subject {
  readonly turns: readonly string[];
  readonly until_ms: number | null;
  readonly mode: 'all' | 'any';
}

const REPLY_BYTES = 4_000;

export function awaitTool(ports: AwaitPorts): WaitingTool {
  return {
    begin: (args, context) => {
      const params = args as v.InferOutput<typeof awaitParams>;
      const turns = watchedBy(params, context);
      if (typeof turns === 'string') return toolError(turns);
      const untilMs = params.until === undefined ? null : Date.parse(params.until);
      const subject: Subject = { turns, until_ms: untilMs, mode: params.mode ?? 'all' };
      const wakeAtMs = context.nowMs + (params.timeout_s ?? AWAIT_DEFAULT_S) * 1_000;
      const state = stateOf(context.store, subject, context.nowMs);
      return state.satisfied ? state.result : { subject: { ...subject, turns: [...turns] }, wakeAtMs };
    },
    arm: (wait, answer) => {
      const { store, clock } = ports;
      const subject = wait.subject as unknown as Subject;
      const stops: (() => void)[] = [];
      let over = false;
      const stop = (): void => {
        over = true;
        for (const each of stops) each();
      };
      const look = (timedOut: boolean): void => {
        if (over) return;
        const state = stateOf(store, subject, clock.now());
        if (!state.satisfied && !timedOut) return;
        stop();
        answer(state.result);
      };
      if (wait.wake_at_ms !== null) stops.push(wakeAt(clock, wait.wake_at_ms, () => look(true)));
      if (subject.until_ms !== null) stops.push(wakeAt(clock, subject.until_ms, () => look(false)));
      for (const turnId of subject.turns) void ports.whenSettled(turnId).then(() => look(false));
      return stop;
    },
  };
}

/** The turns to watch, or why not. */
function watchedBy(
  { turns = [], threads = [] }: v.InferOutput<typeof awaitParams>,
  { store, turnId, threadId }: WaitContext,
): string[] | string {
  const owner = store.threads.get(threadId)?.owner;
  const isOurs = (id: string): boolean => owner !== undefined && store.threads.get(id)?.owner === owner;
  const found = new Set<string>();
  for (const id of turns) {
    const row = store.turns.get(id);
    if (row === undefined || !isOurs(row.thread_id)) return `there is no turn ${id}`;
    if (id === turnId) return 'a turn cannot wait for its own end';
    if (row.thread_id === threadId && row.state !== 'ended')
      return `turn ${id} starts only when this one has ended: they are of one thread`;
    found.add(id);
  }
  for (const id of threads) {
    if (!isOurs(id)) return `there is no thread ${id}`;
    if (id === threadId) return 'a turn cannot wait for its own thread';
    for (const row of store.turns.ofThread(id)) if (row.state !== 'ended') found.add(row.turn_id);
  }
  return [...found];
}

function stateOf(
  store: Store,
  { turns, until_ms: untilMs, mode }: Subject,
  nowMs: number,
): { readonly satisfied: boolean; readonly result: ToolResult } {
  const rows = turns.flatMap((id) => store.turns.get(id) ?? []);
  const holds = rows.map((row) => row.state === 'ended');
  if (untilMs !== null) holds.push(nowMs >= untilMs);
  const satisfied = mode === 'any' ? holds.length === 0 || holds.includes(true) : !holds.includes(false);
  const content = { satisfied, turns: rows.map(viewOf), now: new Date(nowMs).toISOString() };
  return { satisfied, result: { content, is_error: false } };
}

function viewOf({ turn_id, thread_id, state, status, reply }: TurnRow): JsonObject {
  if (state !== 'ended') return { turn_id, thread_id, ended: false };
  return { turn_id, thread_id, ended: true, status, reply: cutText(reply, REPLY_BYTES) };
}
