// A small process that watches this one: when the supervisor is killed, even by SIGKILL, it ends the workers and what
// they started, stopped and stray ones included. It holds a list and a pipe, nothing else. Where no shell is, workers
// still end themselves when their channel closes.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { GUARD_SCRIPT } from './guard-script.js';

const SHELL = '/bin/sh';

export interface Guarded {
  readonly pid: number;
  readonly marker: string;
  /** Path of its control group; null where there is none. */
  readonly cgroup: string | null;
}

export class Guard {
  #child: ChildProcess | null = null;

  /** Starts the guard with the first worker: before that there is nothing to guard. */
  add({ pid, marker, cgroup }: Guarded): void {
    this.#child ??= start();
    const group = cgroup === null || /\s|,/.test(cgroup) ? '-' : cgroup;
    this.#tell(`+ ${pid} ${marker} ${group}\n`);
  }

  remove(pid: number): void {
    this.#tell(`- ${pid}\n`);
  }

  /** Lets the guard go. What is still on its list is ended. */
  close(): void {
    this.#child?.stdin?.end();
    this.#child = null;
  }

  #tell(line: string): void {
    const stdin = this.#child?.stdin;
    if (stdin?.writable) stdin.write(line);
  }
}

function start(): ChildProcess {
  const child = spawn(SHELL, ['-c', GUARD_SCRIPT, 'turnd-guard'], {
    cwd: '/',
    // A group of its own: what kills the supervisor's group must not reach it.
    detached: true,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  child.unref();
  (child.stdin as Socket | null)?.unref();
  return child;
}
