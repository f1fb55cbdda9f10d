// A thinker on a real store, with workers that the test plays by hand.
import { join } from 'node:path';
import type { Test } from 'tap';
import { DEFAULTS } from '../../config/defaults.js';
import type { Config } from '../../config/schema.js';
import type { Clock } from '../../shared/clock.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import { makeMasker } from '../../shared/mask.js';
import { Governor } from '../../supervisor/budgets/governor.js';
import type { ThinkRequest, ThinkResult } from '../../supervisor/context/thinker.js';
import { makeThinker, type ThinkPool } from '../../supervisor/dispatch/think-child.js';
import type { Store } from '../../supervisor/store/types.js';
import type { LiveEvent } from '../../supervisor/tools/running-turn.js';
import { FakeClock } from './fake-clock.js';
import { mustOpen, seedTurn, TURN_ID } from './open-store.js';
import { type PlayedWorker, poolOf } from './played-worker.js';
import { MODEL } from './turn-frame.js';

export interface ThinkStage {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly governor: Governor;
  readonly thinker: ThinkPool;
  readonly workers: PlayedWorker[];
  readonly live: LiveEvent[];
  /** How often others were told that a budget has more room. */
  freed(): number;
  think(change?: Partial<ThinkRequest>, signal?: AbortSignal): Promise<ThinkResult>;
  /** The usage of the turn as its journal tells it. */
  booked(): unknown[];
}

export function thinkStage(
  t: Test,
  options: { readonly intelligence?: Config['intelligence']; readonly clock?: Clock } = {},
): ThinkStage {
  const clock = new FakeClock();
  const store = mustOpen(join(t.testdir({}), 'state'));
  seedTurn(store);
  const governor = new Governor(store, options.intelligence ?? DEFAULTS.intelligence);
  const workers: PlayedWorker[] = [];
  const live: LiveEvent[] = [];
  let freed = 0;
  const thinker = makeThinker({
    store,
    clock: options.clock ?? clock,
    governor,
    live: (_turn, event) => live.push(event),
    budgetFreed: () => {
      freed += 1;
    },
    log: () => undefined,
    pool: poolOf(workers),
    masker: makeMasker(['canary-secret']),
    scene: {
      instance: 'turnd',
      workspaceRoot: '/',
      security: { mode: 'full_access', source: 'default', containment: [], web_allow_private: [] },
      budgetAdmission: governor.active,
    },
    modelFor: () => ({
      settings: { ...MODEL, model: 'small' },
      fallbacks: [],
      credentials: { headers: {}, mask: [] },
    }),
    optionRefused: () => undefined,
  });
  t.teardown(async () => {
    for (const worker of workers) worker.die({ code: null, signal: 'SIGKILL' });
    await thinker.close();
    store.close();
  });
  return {
    store,
    clock,
    governor,
    thinker,
    workers,
    live,
    freed: () => freed,
    think: (change = {}, signal = new AbortController().signal) =>
      thinker.think({ ...THOUGHT, ...change }, signal),
    booked: () =>
      store.events.ofTurn(TURN_ID).flatMap(({ event }) => {
        if (event.kind !== 'usage') return [];
        const { call_index, purpose, model, usage } = event;
        return [[purpose, call_index, model, usage.input_tokens, usage.output_tokens, usage.estimated]];
      }),
  };
}

const THOUGHT: ThinkRequest = {
  purpose: 'think',
  turnId: TURN_ID,
  threadId: 'root',
  principal: 'operator',
  system_prompt: 'Think.',
  messages: [{ role: 'user', text: 'What now?' }],
  max_output_tokens: 100,
  deadline_ms: 10_000,
};

/** The frames of one model call, begun and answered. */
export function call(number: number, tokens: number): ToSupervisor[] {
  const usage = { input_tokens: tokens, output_tokens: 1, cached_tokens: 0, estimated: false };
  return [
    { type: 'progress', progress: { event: 'round', round: number } },
    { type: 'progress', progress: { event: 'usage', call_index: number, model: 'small-1', usage } },
  ];
}

export const outcome = (
  reply: string,
  status: 'completed' | 'failed' = 'completed',
  error?: { code: string; message: string },
): ToSupervisor => ({
  type: 'turn_done',
  outcome: { status, reply, rounds: 1, tool_calls: 0, ...(error === undefined ? {} : { error }) },
});
