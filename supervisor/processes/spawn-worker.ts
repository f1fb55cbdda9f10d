// Starts the process of a worker: own session and group, allow-listed environment, nothing of the turn in argv.
// Frames travel on descriptors 3 (down) and 4 (up). Two of them, because one socket that fails to take a ping for a
// worker that just exited would be torn down with that worker's last frames still unread in it.
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import { collectPrints, type Prints } from './prints.js';
import { readStat } from './proc-files.js';
import { workerEnvironment } from './worker-environment.js';

/** Flags of every worker. Those that change how code is compiled would void the host's own snapshot: 10 ms at start. */
const NODE_FLAGS = ['--no-deprecation', '--single-threaded-gc', '--v8-pool-size=1'];

export interface Launch {
  readonly file: string;
  readonly marker: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface LaunchedWorker {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly pidStart: string;
  readonly down: Socket;
  readonly up: Socket;
  readonly prints: Prints;
}

let setpriv: string | null | undefined;

/** The setpriv that can tie a child's life to ours; null where there is none (busybox has one that cannot). */
export function deathSignalTool(path: string | undefined): string | null {
  setpriv ??= findSetpriv(path ?? '');
  return setpriv;
}

function findSetpriv(path: string): string | null {
  for (const folder of path.split(delimiter).filter((entry) => entry.startsWith('/'))) {
    const file = join(folder, 'setpriv');
    try {
      accessSync(file, constants.X_OK);
      return readFileSync(file).includes('pdeathsig') ? file : null;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/** The started process, or why there is none. */
export type Launched = LaunchedWorker | { readonly failed: Promise<string> };

export function launchWorker(launch: Launch): Launched {
  const node = [process.execPath, ...NODE_FLAGS, launch.file];
  const tool = deathSignalTool(launch.environment['PATH']);
  const argv = tool === null ? node : [tool, '--pdeathsig', 'KILL', '--', ...node];
  const [command = process.execPath, ...args] = argv;
  const child = spawn(command, args, {
    cwd: '/',
    detached: true,
    env: workerEnvironment(launch.environment, launch.marker),
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  const { pid, stdout, stderr } = child;
  // Where descriptors have run out, there are no streams at all, whatever the type says.
  const [, , , down, up] = pid === undefined ? [] : child.stdio;
  if (pid === undefined || !stdout || !stderr || !(down instanceof Socket) || !(up instanceof Socket)) {
    return {
      failed: new Promise((resolve) => child.once('error', (error) => resolve(error.message))),
    };
  }
  child.on('error', () => undefined);
  return {
    child,
    pid,
    pidStart: readStat(pid)?.start ?? '0',
    down,
    up,
    prints: collectPrints([stdout, stderr]),
  };
}
