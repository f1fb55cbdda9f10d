// A control group per worker, where one may be made: nothing that a turn starts can leave it, whatever it does, and the
// kernel ends all of it at one stroke. An optional layer: every function here answers "no" where it is not allowed.
import { mkdirSync, readFileSync, rmdir, rmdirSync, writeFile, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface WorkerCgroup {
  readonly path: string;
  /** The worker was seen inside before it got anything to do: whatever it started is inside as well. */
  holdsAll: boolean;
  pids(): number[];
  /** SIGKILL to everything inside, forks in flight included. */
  kill(): void;
  /** False while something is left inside. */
  remove(): Promise<boolean>;
}

let base: string | null | undefined;

/** The own control group, below which workers' ones are made; null where there is none. Probed once. */
export function cgroupBase(): string | null {
  if (base === undefined) base = probe();
  return base;
}

/** The folder of the control group that this process is in; null where there is none to be seen. */
export function ownCgroup(): string | null {
  try {
    const mount = readFileSync('/proc/self/mountinfo', 'latin1')
      .split('\n')
      .find((line) => line.includes(' - cgroup2 '))
      ?.split(' ')[4];
    const own = readFileSync('/proc/self/cgroup', 'latin1').match(/^0::(\/.*)$/m)?.[1];
    return mount === undefined || own === undefined || own.startsWith('/..') ? null : join(mount, own);
  } catch {
    return null;
  }
}

function probe(): string | null {
  const own = ownCgroup();
  if (own === null) return null;
  try {
    const trial = join(own, `turnd-probe-${process.pid}`);
    mkdirSync(trial);
    try {
      readFileSync(join(trial, 'cgroup.procs'));
      writeFileSync(join(trial, 'cgroup.kill'), '1');
    } finally {
      rmdirSync(trial);
    }
    return own;
  } catch {
    return null;
  }
}

/** The control group of a worker by its id, whether or not it exists. */
export function workerCgroup(parent: string, workerId: string): WorkerCgroup {
  const path = join(parent, `turnd-${workerId.replace(/[^A-Za-z0-9_-]/g, '-')}`);
  return {
    path,
    holdsAll: false,
    pids: () => {
      try {
        return readFileSync(join(path, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean).map(Number);
      } catch {
        return [];
      }
    },
    kill: () => {
      try {
        writeFileSync(join(path, 'cgroup.kill'), '1');
      } catch {
        // Gone already, which is what was wanted.
      }
    },
    // The kernel takes its time over it, and nobody else should wait meanwhile.
    remove: () =>
      new Promise((resolve) => {
        rmdir(path, (error) => resolve(error === null || error.code === 'ENOENT'));
      }),
  };
}

export interface Entered {
  readonly group: WorkerCgroup;
  /** Resolves when the process is inside, or cannot be. */
  readonly moved: Promise<void>;
}

/**
 * Makes the group and begins to move the process in; null where no group can be made. The move may take the kernel tens
 * of milliseconds, so it is done in the background while the process starts: what is forked after it is inside.
 */
export function enterCgroup(workerId: string, pid: number): Entered | null {
  const parent = cgroupBase();
  if (parent === null) return null;
  const group = workerCgroup(parent, workerId);
  try {
    mkdirSync(group.path);
  } catch {
    return null;
  }
  const moved = new Promise<void>((resolve) => {
    // A process that is gone by then leaves the group empty, and there is nothing to be found in it.
    writeFile(join(group.path, 'cgroup.procs'), String(pid), () => {
      group.holdsAll = group.pids().includes(pid);
      resolve();
    });
  });
  return { group, moved };
}
