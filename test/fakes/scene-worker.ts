// Starts the fixture worker in one of its scenes, with limits short enough for a test, and collects what it sends.
import { systemClock } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import { Guard } from '../../supervisor/processes/guard.js';
import {
  type StartedWorker,
  startWorker,
  type WorkerLimits,
} from '../../supervisor/processes/worker-process.js';
import { ROOT } from './run-turnd.js';

const LIMITS: WorkerLimits = {
  cancelGraceMs: 300,
  killGraceMs: 300,
  giveUpMs: 5_000,
  progressMs: 60_000,
  pongMs: 10_000,
  startMs: 10_000,
  queueMaxBytes: 32 * 1024 * 1024,
};

export interface SceneWorker {
  readonly worker: StartedWorker;
  readonly frames: ToSupervisor[];
  /** Resolves with the first frame, past or future, that fits. */
  seen(fits: (frame: ToSupervisor) => boolean): Promise<ToSupervisor>;
}

export function sceneWorker(scene: string, limits: Partial<WorkerLimits> = {}, file?: string): SceneWorker {
  const worker = startWorker({
    workerId: newId('worker', systemClock.now()),
    file: file ?? `${ROOT}/test/fixtures/wire-worker.cjs`,
    environment: {
      ...process.env,
      LC_SCENE: scene,
      OPENAI_API_KEY: 'sk-of-the-supervisor',
      NODE_OPTIONS: '',
    },
    clock: systemClock,
    limits: { ...LIMITS, ...limits },
    guard: new Guard(),
  });
  const frames: ToSupervisor[] = [];
  const watchers = new Set<(frame: ToSupervisor) => void>();
  worker.onFrame((frame) => {
    frames.push(frame);
    for (const watcher of watchers) watcher(frame);
  });
  const seen: SceneWorker['seen'] = (fits) =>
    new Promise((resolve, reject) => {
      const past = frames.find(fits);
      if (past !== undefined) resolve(past);
      watchers.add((frame) => fits(frame) && resolve(frame));
      void worker.ended.then((exit) =>
        reject(new TypeError(`ended before that frame: ${JSON.stringify(exit)}`)),
      );
    });
  return { worker, frames, seen };
}

export function isNote(text: string): (frame: ToSupervisor) => boolean {
  return (frame) =>
    frame.type === 'progress' && frame.progress.event === 'note' && frame.progress.text === text;
}
