// Runs commands in one chosen layer of containment, so that each layer is tested and not only the strongest.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { baseEnvironment } from '../../worker/sandbox/base-environment.js';
import { commandEnvironment } from '../../worker/sandbox/command-environment.js';
import { findProgram } from '../../worker/sandbox/find-program.js';
import { containmentLayers, type Layer } from '../../worker/sandbox/layers.js';
import { startCommand } from '../../worker/sandbox/start-command.js';
import { RunningCommand } from '../../worker/tools/running-command.js';
import type { ShellContext } from './shell-context.js';

const PATH = baseEnvironment()['PATH'] ?? '';

/** A PATH on which `setpriv` cannot be found, made in `root`. */
function pathWithoutSetpriv(root: string): string {
  const folder = join(root, 'bin');
  mkdirSync(folder, { recursive: true });
  for (const name of ['sh', 'unshare', 'setsid']) {
    const found = findProgram(name, PATH);
    const link = join(folder, name);
    if (found !== null && findProgram(name, folder) === null) symlinkSync(found, link);
  }
  return folder;
}

/** Every way of containing a command that the product knows for this machine, whether it holds here or not. */
export function allLayers(root: string): Layer[] {
  const isRoot = process.getuid?.() === 0;
  const watched = containmentLayers(pathWithoutSetpriv(root), isRoot);
  return [...containmentLayers(PATH, isRoot), ...watched.filter((layer) => layer.name === 'pid_namespace')];
}

export function describeLayer(layer: Layer): string {
  const user = layer.wrapper.includes('--user') ? ', user namespace' : '';
  const proc = layer.wrapper.includes('--mount-proc') ? ', own /proc' : '';
  const tied = layer.wrapper.includes('--pdeathsig') ? ', tied' : ', watched';
  return `${layer.name}${user}${proc}${tied}`;
}

/** Starts `command` in the layer with that index; throws where the layer does not hold. */
export async function runIn(layer: number, command: string, context: ShellContext): Promise<RunningCommand> {
  const chosen = allLayers(context.workspaceRoot)[layer];
  const started = await startCommand(
    {
      argv: ['bash', '-c', command],
      cwd: context.workspaceRoot,
      env: commandEnvironment(baseEnvironment(), {}, context.processMarker),
      searchPath: PATH,
      spoolDir: context.spoolDir,
      openStdin: false,
      clock: context.clock,
    },
    chosen === undefined ? [] : [chosen],
  );
  if (typeof started === 'string') throw new Error(started);
  return new RunningCommand(started, context.limits.exec_timeout_ms, context, context.clock.monotonic());
}

/** Indexes of the layers that hold on this machine. */
export async function heldLayers(context: ShellContext): Promise<number[]> {
  const held: number[] = [];
  for (const index of allLayers(context.workspaceRoot).keys()) {
    const running = await runIn(index, 'true', context).catch(() => null);
    if (running === null) continue;
    await running.ended;
    held.push(index);
  }
  return held;
}
