// Launches the worker of a job as the first thing of all: its start takes as long as the supervisor's own, and the two
// run side by side. Nothing is sent to it; it ends by itself when this process does. The build makes this a file of its
// own, which the command runs before it compiles the rest of itself.
import { systemClock } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { launchWorker } from './spawn-worker.js';
import type { LaunchedAhead } from './types.js';
import { workerFile } from './worker-file.js';

let ahead: LaunchedAhead | null | undefined;

/** The worker of this job, launched at the first call; null for every other command. */
export function launchIfJob(argv: readonly string[], environment: NodeJS.ProcessEnv): LaunchedAhead | null {
  if (ahead === undefined) ahead = isJob(argv) ? launch(environment) : null;
  return ahead;
}

/** Good enough to start early: a command that turns out to be something else ends the worker again. */
function isJob(argv: readonly string[]): boolean {
  return argv.some((arg) => arg === '-p' || arg === '--prompt' || arg.startsWith('--prompt='));
}

function launch(environment: NodeJS.ProcessEnv): LaunchedAhead {
  const workerId = newId('worker', systemClock.now());
  return { workerId, launched: launchWorker({ file: workerFile(), marker: workerId, environment }) };
}
