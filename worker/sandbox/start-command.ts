// Starts a command in the strongest containment that holds here. There is no probe: a way that does not hold shows by
// its init not coming up, before anything of the command has run, and the next one is tried.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../shared/clock.js';
import { type CommandOutput, pipeOutput, streamOutput } from './command-output.js';
import { ContainedCommand, withinMs } from './contained-command.js';
import { initLine } from './init-line.js';
import type { Layer } from './layers.js';
import { type Pipe, takePipe } from './pipe-pool.js';
import { signalProcess } from './process-tree.js';

/** An init that is not up by then is stuck; far above what a loaded machine needs. */
const READY_MS = 15_000;

export interface CommandStart {
  /** The shell and its arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where the wrapper's programs and mkfifo are found. */
  readonly searchPath: string;
  /** A private folder for the moment in which pipes have a name. */
  readonly spoolDir: string;
  readonly openStdin: boolean;
  readonly clock: Clock;
}

interface Pipes {
  readonly output: Pipe | null;
  readonly stdin: Pipe | null;
}

let started = 0;

/**
 * Runs the command and returns it running, or says in words why it cannot be started. `layers` is tried in order, and
 * the one that held moves to its front for the next command.
 */
export async function startCommand(start: CommandStart, layers: Layer[]): Promise<ContainedCommand | string> {
  const pipes: Pipes = {
    output: await takePipe(start.spoolDir, start.searchPath, 'writes'),
    stdin: start.openStdin ? await takePipe(start.spoolDir, start.searchPath, 'reads') : null,
  };
  try {
    let problem = 'there is no shell (sh) on the PATH';
    for (const layer of [...layers]) {
      const attempt = await launch(start, layer, pipes);
      if (typeof attempt !== 'string') {
        layers.splice(layers.indexOf(layer), 1);
        layers.unshift(layer);
        return attempt;
      }
      problem = attempt;
    }
    closeEnds(pipes.output?.read, pipes.stdin?.write);
    return problem;
  } finally {
    closeEnds(pipes.output?.write, pipes.stdin?.read);
  }
}

async function launch(start: CommandStart, layer: Layer, pipes: Pipes): Promise<ContainedCommand | string> {
  started += 1;
  const id = `${process.pid}.${started}`;
  const [file = 'sh', ...wrapper] = layer.wrapper;
  const args = [...wrapper, id, ...layer.session, ...start.argv];
  let child: ChildProcess;
  try {
    const stdin = start.openStdin ? (pipes.stdin?.read ?? 'pipe') : 'ignore';
    const stdio = [stdin, pipes.output?.write ?? 'pipe', 'ignore', 'pipe'] as const;
    child = spawn(file, args, {
      cwd: start.cwd,
      env: start.env,
      stdio: [...stdio],
      detached: layer.detached,
    });
  } catch (error) {
    return (error as Error).message;
  }
  return await handshake(start, layer, pipes, { child, id });
}

async function handshake(
  start: CommandStart,
  layer: Layer,
  pipes: Pipes,
  { child, id }: { child: ChildProcess; id: string },
): Promise<ContainedCommand | string> {
  let problem = 'its containment did not come up';
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      problem = error.message;
      resolve();
    });
  });
  const line = initLine(child);
  await withinMs(start.clock, READY_MS, Promise.race([line.ready, exited]));
  const seenPid = await Promise.race([line.ready, Promise.resolve(null)]);
  const { pid } = child;
  const holds = seenPid !== null && (layer.name !== 'pid_namespace' || seenPid === 1);
  if (pid === undefined || !holds) {
    if (pid !== undefined) signalProcess(pid, 'SIGKILL');
    line.close();
    child.stdin?.destroy();
    child.stdout?.destroy();
    return problem;
  }
  line.go();
  const output = outputOf(child, pipes);
  const stdin = stdinOf(child, pipes);
  return new ContainedCommand({ child, pid, exited, line, layer, id, output, stdin, clock: start.clock });
}

function outputOf(child: ChildProcess, pipes: Pipes): CommandOutput {
  return pipes.output === null ? streamOutput(child.stdout as Readable) : pipeOutput(pipes.output.read);
}

function stdinOf(child: ChildProcess, pipes: Pipes): Writable | null {
  const ours =
    pipes.stdin === null ? null : new Socket({ fd: pipes.stdin.write, readable: false, writable: true });
  const stdin = ours ?? child.stdin;
  // A command that ends with input unread breaks the pipe; the stream is then destroyed, which says enough.
  stdin?.on('error', () => undefined);
  return stdin;
}

function closeEnds(...descriptors: (number | undefined)[]): void {
  for (const descriptor of descriptors) if (descriptor !== undefined) closeSync(descriptor);
}
