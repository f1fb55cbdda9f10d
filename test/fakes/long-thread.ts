// A thread on a real store that grows by what a test says, and folds it with the real parts. Who summarises is scripted.
import type { Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { estimateMessages } from '../../shared/transcript/estimate-tokens.js';
import type { Message } from '../../shared/transcript/message.js';
import { CompactPhases } from '../../supervisor/context/compact-phases.js';
import { type CompactionEvent, Compactor } from '../../supervisor/context/compaction.js';
import type { Thinker, ThinkRequest, ThinkResult } from '../../supervisor/context/thinker.js';
import { TurnRooms } from '../../supervisor/context/turn-rooms.js';
import { threadView } from '../../supervisor/snapshot/transcript-slice.js';
import type { Store } from '../../supervisor/store/types.js';
import { mustOpen, THREAD } from './open-store.js';
import { SETTINGS } from './played-turn.js';

interface Call {
  readonly id: string;
  readonly tool: string;
  readonly args?: JsonObject;
  /** Left out: the call never ended. */
  readonly result?: JsonValue;
}

type Answer = (request: ThinkRequest, signal: AbortSignal) => ThinkResult | Promise<ThinkResult>;

interface Options {
  readonly window?: number;
  readonly keepLast?: number;
  /** Null: there is nobody to ask. */
  readonly thinker?: Answer | null;
  readonly prompt?: string;
}

export interface LongThread {
  readonly store: Store;
  readonly asked: ThinkRequest[];
  readonly told: CompactionEvent[];
  readonly compactor: Compactor;
  readonly rooms: TurnRooms;
  readonly phases: CompactPhases;
  /** A message that waits for its turn. */
  accept(turnId: string, text: string): void;
  tell(turnId: string, event: JournalEvent): void;
  /** One answer with calls and their results, as they are journaled. */
  round(turnId: string, text: string, calls?: readonly Call[]): void;
  end(turnId: string): void;
  /** A whole turn: message, rounds, answer. */
  turn(turnId: string, text: string, answer?: string): void;
  view(turnId: string): Message[];
  tokens(turnId: string): number;
  room(): number;
}

/** Text of about this many characters that begins with its name. */
export const long = (word: string, chars = 4_000): string => `${word} ${'lorem ipsum '.repeat(chars / 12)}`;

export const NO_SIGNAL = new AbortController().signal;

export function summaryOf(parts: Partial<Record<string, JsonValue>> = {}): ThinkResult {
  const value = { goals: [], decisions: [], open: [], facts: [], narrative: 'things happened', ...parts };
  return { ok: true, value, text: JSON.stringify(value) };
}

export function longThread(t: Test, options: Options = {}): LongThread {
  const store = mustOpen(`${t.testdir({})}/state`);
  t.teardown(() => store.close());
  const asked: ThinkRequest[] = [];
  const told: CompactionEvent[] = [];
  const answer = options.thinker === undefined ? () => summaryOf() : options.thinker;
  const thinker: Thinker | null =
    answer === null
      ? null
      : {
          think: async (request, signal) => {
            asked.push(request);
            return answer(request, signal);
          },
        };
  const view = (query: Parameters<typeof threadView>[1]): Message[] => threadView(store, query);
  const window = options.window ?? 20_000;
  const rooms = new TurnRooms({ store, clock: systemClock, compactAt: 0.7, windowOf: () => window });
  rooms.of(SETTINGS, 'You are a test.', []);
  const compactor = new Compactor({
    store,
    clock: systemClock,
    thinker,
    view,
    keepLast: options.keepLast ?? 12,
    prompt: options.prompt ?? null,
    summaryWindow: () => window,
    tell: (_turn, event) => told.push(event),
    log: () => undefined,
  });
  const phases = new CompactPhases({ store, compactor, rooms, view, settings: () => SETTINGS });
  const thread: LongThread = {
    store,
    asked,
    told,
    compactor,
    rooms,
    phases,
    view: (turnId: string) => view({ threadId: THREAD, turnId }),
    tokens: (turnId: string) =>
      estimateMessages(view({ threadId: THREAD, turnId, roomTokens: thread.room(), fit: false })),
    room: () => rooms.usual(SETTINGS).messages,
    ...writing(store),
  };
  return thread;
}

function writing(store: Store): Pick<LongThread, 'accept' | 'tell' | 'round' | 'end' | 'turn'> {
  let round = 0;
  const tell = (turnId: string, event: JournalEvent): void => {
    store.transact('record_progress', () => store.events.append(turnId, THREAD, event, 1));
  };
  const accept = (turnId: string, text: string): void => {
    const row = { event_id: `event_${turnId}`, turn_id: turnId, thread_id: THREAD, principal: 'operator' };
    store.transact('accept_message', () => {
      const workspace = store.workspaces.ensure('/somewhere', 1);
      store.threads.ensure(THREAD, workspace.workspace_id, 'operator', 1);
      store.turns.insert({ turn_id: turnId, thread_id: THREAD, created_at_ms: 1 });
      store.inbox.insert({ ...row, text, created_at_ms: 1, producer: 'client', lane: 'person', hop: 0 });
    });
    tell(turnId, { kind: 'user_message', item_id: `item_${turnId}`, text, principal: 'operator' });
  };
  const say = (turnId: string, text: string, calls: readonly Call[] = []): void => {
    round += 1;
    tell(turnId, {
      kind: 'assistant_message',
      item_id: `item_${round}`,
      round,
      text,
      calls: calls.map(({ id, tool, args = {} }) => ({ call_id: id, name: tool, arguments: args })),
      stop: calls.length > 0 ? 'tool_calls' : 'end',
      model: 'm',
    });
    for (const [index, { id, tool, args = {}, result }] of calls.entries()) {
      const intent = { call_id: id, round, index, tool, arguments: args, reason: 'mode' };
      tell(turnId, { kind: 'tool_intent', ...intent, verdict: 'allow', runs: 'worker' });
      if (result === undefined) continue;
      const done = { call_id: id, tool, content: result, is_error: false, duration_ms: 1 };
      tell(turnId, { kind: 'tool_result', ...done, end: 'done' });
    }
  };
  const end = (turnId: string): void => {
    store.transact('settle_turn', () => {
      store.turns.transition(turnId, 'settle', { status: 'completed' });
      store.events.append(turnId, THREAD, { kind: 'turn_ended', status: 'completed', reply: '' }, 1);
    });
  };
  return {
    accept,
    tell,
    round: say,
    end,
    turn: (turnId, text, answer = `answer of ${turnId}`) => {
      accept(turnId, text);
      say(turnId, answer);
      end(turnId);
    },
  };
}
