// The supervisor's half of a turn on a real store, with workers that the test plays by hand.
import type { Test } from 'tap';
import { DEFAULTS } from '../../config/defaults.js';
import type { Config } from '../../config/schema.js';
import { type Clock, systemClock } from '../../shared/clock.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { SecuritySnapshot, TurnLimits } from '../../shared/ipc/turn-snapshot.js';
import { makeMasker } from '../../shared/mask.js';
import type { PermissionMode } from '../../shared/policy/permission-mode.js';
import { type Estimate, Governor } from '../../supervisor/budgets/governor.js';
import { makeScheduler, type Scheduler } from '../../supervisor/dispatch/scheduler.js';
import { acceptMessage } from '../../supervisor/intake/accept-message.js';
import { toolPlan } from '../../supervisor/snapshot/tool-plan.js';
import { transcriptSlice } from '../../supervisor/snapshot/transcript-slice.js';
import { openStore } from '../../supervisor/store/open.js';
import type { Store } from '../../supervisor/store/types.js';
import type { Ask, LiveEvent } from '../../supervisor/tools/running-turn.js';
import { type PlayedWorker, poolOf } from './played-worker.js';
import { turnFrame } from './turn-frame.js';

export interface Stage {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly live: LiveEvent[];
  readonly workers: PlayedWorker[];
  readonly governor: Governor;
  accept(text: string, thread?: string, principal?: string): string;
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
  const workers: PlayedWorker[] = [];
  let lost = false;
  t.teardown(async () => {
    if (lost) return;
    for (const worker of workers) worker.die({ code: null, signal: 'SIGKILL' });
    await scheduler.close();
    store.close();
  });
  const scheduler = makeScheduler(
    {
      store,
      clock,
      governor,
      estimate: ({ turnId }) => estimateOf(options.estimate, store.inbox.ofTurn(turnId)?.text),
      masker: makeMasker(['canary-secret']),
      ask: options.ask ?? (() => Promise.resolve('nobody')),
      live: (_turn, event) => live.push(event),
      log: () => undefined,
      optionRefused: () => undefined,
      pool: poolOf(workers),
      hashOf: () => 'hash',
      freeze: ({ turnId, threadId }, marker) => ({
        credentials: { headers: {}, mask: [] },
        snapshot: {
          ...turnFrame().snapshot,
          budget_admission: governor.active,
          limits: limitsWith(options.deadlineMs),
          turn_id: turnId,
          thread_id: threadId,
          messages: transcriptSlice(store, threadId, turnId),
          tools: [...toolPlan()],
          security: securityOf(options.mode ?? 'full_access'),
          spool_dir: `${store.dir}/spool`,
          process_marker: marker,
        },
      }),
    },
    options.cap ?? 4,
  );
  return {
    store,
    governor,
    scheduler,
    live,
    workers,
    accept: (text, threadId = 'root', principal = 'operator') => {
      const message = { threadId, workspaceRoot: '/', principal, text };
      const { turnId } = acceptMessage(store, clock, message);
      scheduler.wake();
      return turnId;
    },
    lose: () => {
      lost = true;
      store.close();
    },
    kinds: (turnId) => store.events.ofTurn(turnId).map(({ event }) => event.kind),
  };
}

function estimateOf(estimate: StageOptions['estimate'], text = ''): Estimate {
  const inputTokens = typeof estimate === 'function' ? estimate(text) : (estimate ?? 100);
  return { model: 'm', inputTokens, outputTokens: 0 };
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
  calls: { call_id: string; name: string; arguments: Record<string, string> }[],
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

export const request = (
  id: number,
  callId: string,
  tool: string,
  args: Record<string, string>,
): ToSupervisor => ({
  type: 'tool_request',
  id,
  call_id: callId,
  round: 1,
  index: id,
  tool,
  arguments: args,
});
