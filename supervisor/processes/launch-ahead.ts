// Launches the worker of a job as the first thing of all: its start takes as long as the supervisor's own, and the two
// run side by side. Nothing is sent to it; it ends by itself when this process does.
import { systemClock } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { launchWorker } from './spawn-worker.js';
import type { LaunchedAhead } from './types.js';
import { workerFile } from './worker-file.js';

export function launchAhead(environment: NodeJS.ProcessEnv): LaunchedAhead {
  const workerId = newId('worker', systemClock.now());
  return { workerId, launched: launchWorker({ file: workerFile(), marker: workerId, environment }) };
}
