// The supervisor's half of a turn on a real store, with workers that the test plays by hand.
import type { Test } from 'tap';
import { DEFAULTS } from '../../config/defaults.js';
import type { Config } from '../../config/schema.js';
import { type Clock, systemClock } from '../../shared/clock.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { SecuritySnapshot, TurnLimits, TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JsonObject } from '../../shared/json.js';
import { type Masker, makeMasker } from '../../shared/mask.js';
import type { PermissionMode } from '../../shared/policy/permission-mode.js';
import { type Estimate, Governor } from '../../supervisor/budgets/governor.js';
import type { AfterHook, BeforeHook } from '../../supervisor/dispatch/phases.js';
import { makeScheduler, type Scheduler, type SchedulerParts } from '../../supervisor/dispatch/scheduler.js';
import { Waits } from '../../supervisor/dispatch/waits.js';
import { acceptInside, acceptMessage } from '../../supervisor/intake/accept-message.js';
import type { DoorRules } from '../../supervisor/intake/door-rules.js';
import { priorOf } from '../../supervisor/snapshot/prior.js';
import { toolPlan } from '../../supervisor/snapshot/tool-plan.js';
import { transcriptSlice } from '../../supervisor/snapshot/transcript-slice.js';
import { openStore } from '../../supervisor/store/open.js';
import type { Producer } from '../../supervisor/store/rows.js';
import type { Store } from '../../supervisor/store/types.js';
import { Subagents } from '../../supervisor/subagents/subagents.js';
import { type Audience, askHumanTool } from '../../supervisor/tools/ask-human.js';
import { awaitTool } from '../../supervisor/tools/await-turns.js';
import type { Ask, LiveEvent, LiveListener } from '../../supervisor/tools/running-turn.js';
import { sleepTool } from '../../supervisor/tools/sleep.js';
import type { WaitingTool } from '../../supervisor/tools/waiting-tool.js';
import { type PlayedWorker, poolOf } from './played-worker.js';
import { turnFrame } from './turn-frame.js';

export interface Stage {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly live: LiveEvent[];
  readonly workers: PlayedWorker[];
  readonly governor: Governor;
  readonly waits: Waits;
  readonly subagents: Subagents;
  /** Turns that ended by `finish`, with its arguments. */
  readonly finished: readonly [string, JsonObject][];
  /** Of a client, unless told otherwise. */
  accept(text: string, thread?: string, principal?: string, producer?: Producer): string;
  kinds(turnId: string): string[];
  /** Leaves the store as the death of a supervisor would. Its clock must not be moved any more. */
  lose(): void;
}

export interface StageOptions {
  readonly mode?: PermissionMode;
  readonly ask?: Ask;
  readonly cap?: number;
  readonly clock?: Clock;
  readonly intelligence?: Config['intelligence'];
  /** Tokens that the first call of each turn may take. */
  readonly estimate?: number | ((text: string) => number);
  readonly audience?: Audience;
  readonly tools?: Readonly<Record<string, WaitingTool>>;
  readonly parkAfterMs?: number;
  readonly limits?: Partial<Config['limits']['subagents']>;
  /** As in a job: nobody stays for subagents. */
  readonly keepsDetached?: boolean;
  readonly before?: BeforeHook;
  readonly after?: AfterHook;
  /** Left out: a minute. */
  readonly deadlineMs?: number;
  /** Left out: a fresh one of the test. */
  readonly dir?: string;
}

export function stage(t: Test, options: StageOptions = {}): Stage {
  const clock = options.clock ?? systemClock;
  const dir = options.dir ?? `${t.testdir({})}/state`;
  const opened = openStore({ dir, on_damage: 'stop', nowMs: 1 });
  if (!opened.ok) throw new Error(opened.failure.message);
  const { store } = opened;
  const governor = new Governor(store, options.intelligence ?? DEFAULTS.intelligence);
  const live: LiveEvent[] = [];
  const finished: [string, JsonObject][] = [];
  const masker = makeMasker(['canary-secret']);
  const workers: PlayedWorker[] = [];
  let lost = false;
  t.teardown(async () => {
    if (lost) return;
    for (const worker of workers) worker.die({ code: null, signal: 'SIGKILL' });
    await scheduler.close();
    store.close();
  });
  const tell: LiveListener = (_turn, event) => void live.push(event);
  const subagents = subagentsOn(store, clock, options, () => scheduler);
  const waits = waitsOn(
    store,
    clock,
    masker,
    tell,
    { ...subagents.tools, ...options.tools },
    options,
    () => scheduler,
  );
  const scheduler = makeScheduler({
    store,
    clock,
    governor,
    estimate: ({ turnId }) => estimateOf(options.estimate, store.inbox.ofTurn(turnId)?.text),
    masker,
    waits,
    parkAfterMs: options.parkAfterMs ?? 60_000,
    maxParallelTurns: options.cap ?? 4,
    laneAgeMs: 30_000,
    ended: (row) => {
      if (!lost) subagents.endBelow(row.turn_id, 'cancel');
    },
    ...(options.before === undefined ? {} : { before: options.before }),
    ...(options.after === undefined ? {} : { after: options.after }),
    finished: (turnId, args) => void finished.push([turnId, args]),
    ask: options.ask ?? (() => Promise.resolve('nobody')),
    live: tell,
    log: () => undefined,
    optionRefused: () => undefined,
    pool: poolOf(workers),
    hashOf: () => 'hash',
    freeze: freezing(store, governor, options),
  });
  return {
    ...{ store, governor, scheduler, waits, subagents, finished, live, workers },
    accept: accepting(store, clock, scheduler),
    lose: () => {
      lost = true;
      // Whoever died answers nothing any more.
      waits.close();
      store.close();
    },
    kinds: (turnId) => store.events.ofTurn(turnId).map(({ event }) => event.kind),
  };
}

function accepting(store: Store, clock: Clock, scheduler: Scheduler): Stage['accept'] {
  return (text, threadId = 'root', principal = 'operator', producer = 'client') => {
    const message = { threadId, workspaceRoot: '/', principal, text, producer };
    const accepted = acceptMessage(store, clock.now(), message, EVERYTHING);
    if (!accepted.ok) throw new Error(accepted.message);
    const { turnId, lane } = accepted;
    scheduler.enqueue({ turnId, threadId, principal, lane });
    return turnId;
  };
}

function waitsOn(
  store: Store,
  clock: Clock,
  masker: Masker,
  live: LiveListener,
  tools: StageOptions['tools'],
  { audience }: StageOptions,
  scheduler: () => Scheduler,
): Waits {
  return new Waits({
    ...{ store, clock, masker, live },
    tools: {
      sleep: sleepTool(clock),
      await: awaitTool({ store, clock, whenSettled: (turnId) => scheduler().whenSettled(turnId) }),
      ask_human: askHumanTool(clock, audience ?? 'later'),
      ...tools,
    },
    answered: (turnId) => scheduler().wake(turnId),
    lent: () => scheduler().wake(),
    log: () => undefined,
  });
}

/** `known` is the one model that may be named. */
function subagentsOn(
  store: Store,
  clock: Clock,
  { limits, keepsDetached = true }: StageOptions,
  scheduler: () => Scheduler,
): Subagents {
  const { run, subagents } = DEFAULTS.limits;
  const made: Subagents = new Subagents({
    ...{ store, clock, keepsDetached },
    limits: { run, subagents: { ...subagents, ...limits } },
    isModel: (name) => name === 'known',
    shedding: () => false,
    accept: (message) => {
      const accepted = acceptInside(store, clock.now(), message, EVERYTHING);
      if (accepted.ok) setImmediate(() => scheduler().enqueue(accepted));
      return accepted;
    },
    requestEnd: (turnId, reason, now) => {
      const known = scheduler().requestEnd(turnId, reason, now);
      made.endBelow(turnId, reason, now);
      return known;
    },
    whenSettled: (turnId) => scheduler().whenSettled(turnId),
  });
  return made;
}

function freezing(store: Store, governor: Governor, options: StageOptions): SchedulerParts['freeze'] {
  return ({ turnId, threadId }, marker) => ({
    credentials: { headers: {}, mask: [] },
    snapshot: {
      ...turnFrame().snapshot,
      budget_admission: governor.active,
      limits: limitsWith(options.deadlineMs),
      turn_id: turnId,
      thread_id: threadId,
      ...priorIn(store, turnId),
      messages: transcriptSlice(store, threadId, turnId),
      tools: [...toolPlan()],
      security: securityOf(options.mode ?? 'full_access'),
      spool_dir: `${store.dir}/spool`,
      process_marker: marker,
    },
  });
}

function estimateOf(estimate: StageOptions['estimate'], text = ''): Estimate {
  const inputTokens = typeof estimate === 'function' ? estimate(text) : (estimate ?? 100);
  return { model: 'm', inputTokens, outputTokens: 0 };
}

/** No bounds of a queue in tests that are not about them. */
const EVERYTHING: DoorRules = {
  maxMessageDepth: 1_000,
  perPrincipal: 1_000_000,
  total: 1_000_000,
  waiting: () => ({ ofPrincipal: 0, total: 0 }),
};

function priorIn(store: Store, turnId: string): Pick<TurnSnapshot, 'prior'> {
  const prior = priorOf(store, turnId);
  return prior === undefined ? {} : { prior };
}

function securityOf(mode: PermissionMode): SecuritySnapshot {
  return { mode, source: 'default', containment: [], web_allow_private: [] };
}

function limitsWith(deadlineMs: number | undefined): TurnLimits {
  const { limits } = turnFrame().snapshot;
  return deadlineMs === undefined ? limits : { ...limits, deadline_ms: deadlineMs };
}

/** Lets everything that is ready run. */
export const settleDown = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

export async function worker(stage: Stage, index = 0): Promise<PlayedWorker> {
  await settleDown();
  const found = stage.workers[index];
  if (found === undefined) throw new Error('no worker was taken');
  return found;
}

export const done = (
  status: 'completed' | 'failed' | 'cancelled' = 'completed',
  reply = 'the answer',
): ToSupervisor => ({
  type: 'turn_done',
  outcome: { status, reply, rounds: 1, tool_calls: 0 },
});

export const assistant = (
  calls: { call_id: string; name: string; arguments: JsonObject }[],
): ToSupervisor => ({
  type: 'progress',
  progress: {
    event: 'assistant',
    item_id: 'item_1',
    round: 1,
    text: '',
    calls,
    stop: 'tool_calls',
    model: 'm',
  },
});

export const request = (id: number, callId: string, tool: string, args: JsonObject): ToSupervisor => ({
  type: 'tool_request',
  id,
  call_id: callId,
  round: 1,
  index: id,
  tool,
  arguments: args,
});
