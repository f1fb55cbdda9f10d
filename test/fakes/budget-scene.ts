// A stage with a budget: a clock that the test moves, from a Monday at midnight, and workers that ask before each call.
import type { Test } from 'tap';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import { done, type Stage, type StageOptions, settleDown, stage, worker } from './dispatch-stage.js';
import { FakeClock } from './fake-clock.js';

export const MINUTE = 60_000;
/** 2026-03-02 was a Monday. */
export const MONDAY = Date.UTC(2026, 2, 2);

interface Scene extends Stage {
  readonly clock: FakeClock;
}

export function scene(t: Test, options: StageOptions): Scene {
  const clock = new FakeClock();
  clock.set(MONDAY);
  return { ...stage(t, { deadlineMs: 24 * 60 * MINUTE, ...options, clock }), clock };
}

type Worker = Awaited<ReturnType<typeof worker>>;
type Answer = Extract<ToWorker, { type: 'budget_answer' }>['answer'];

/** Asks as a worker does before each model call. */
export function asks(w: Worker, tokens: number): Answer {
  const before = w.sent.length;
  w.say({ type: 'budget_request', id: 1, estimate_tokens: tokens });
  const last = w.sent[before];
  if (last?.type !== 'budget_answer') throw new Error('no answer');
  return last.answer;
}

/** Makes the call that it was let make. */
export async function uses(w: Worker, call: number, tokens: number, model = 'm'): Promise<void> {
  w.say({ type: 'progress', progress: { event: 'round', round: call } });
  const usage = { input_tokens: tokens, output_tokens: 0, cached_tokens: 0, estimated: false };
  w.say({ type: 'progress', progress: { event: 'usage', call_index: call, model, usage } });
  // Recorded once the bundle of frames is through.
  await settleDown();
}

/** A turn of one call, from start to end. */
export async function whole(s: Scene, id: string, index: number, tokens: number): Promise<void> {
  const w = await worker(s, index);
  const answer = asks(w, tokens);
  if (answer.kind !== 'go') throw new Error(`it was not let go: ${answer.kind}`);
  await uses(w, 1, tokens);
  w.say(done());
  w.die({});
  await s.scheduler.whenSettled(id);
  await settleDown();
}
