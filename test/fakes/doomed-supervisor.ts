// A process of its own that starts a worker with a turn and then waits to be killed. Run by `processes.test.ts`.
import { isNote, sceneWorker } from './scene-worker.js';
import { turnFrame } from './turn-frame.js';

/** Says the worker's pid once its tree has grown. */
export async function beDoomed(scene: string, token: string): Promise<void> {
  const { worker, seen } = sceneWorker(scene);
  await worker.ready;
  worker.send(turnFrame({ system_prompt: token }));
  await seen(isNote('grown'));
  process.stdout.write(`grown ${worker.pid}\n`);
}
