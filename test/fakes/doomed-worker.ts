// A process that runs one command as a worker does, and then waits to be killed. Run by the containment tests.
import { setTimeout as sleep } from 'node:timers/promises';
import { runIn } from './contained.js';
import { shellContext } from './shell-context.js';

/** Says `running` once the command does. `layer` is an index into the layers of this machine. */
async function beDoomedWorker(root: string, layer: number, command: string): Promise<void> {
  const running = await runIn(layer, command, shellContext(root));
  process.stdout.write(`running ${running.command.layer}\n`);
  await sleep(120_000);
}

const [root = '', layer = '0', command = ''] = process.argv.slice(2);
await beDoomedWorker(root, Number(layer), command);
