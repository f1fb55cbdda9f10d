// Ends what an earlier supervisor recorded and left alive: it was killed, and its workers' trees with it only as far as
// the machine does that. A recorded pid counts only together with its start time: pids are reused.
import type { Clock } from '../../shared/clock.js';
import { cgroupBase, workerCgroup } from './cgroup.js';
import { signalGroup } from './signals.js';
import { findProcesses, type Quarry, sweep } from './sweep.js';

export interface Recorded {
  readonly pid: number;
  readonly pid_start: string;
  /** Value of TURND_TURN; a worker's id. */
  readonly marker: string;
}

/** Gives how many processes were still alive. */
export async function endOrphans(recorded: readonly Recorded[], clock: Clock): Promise<number> {
  const parent = cgroupBase();
  let ended = 0;
  for (const { pid, pid_start: pidStart, marker } of recorded) {
    const cgroup = parent === null ? null : workerCgroup(parent, marker);
    const quarry: Quarry = { pid, pidStart, marker, cgroup, known: new Map() };
    const left = findProcesses(quarry);
    ended += left.length;
    if (left.some((stat) => stat.pgrp === pid)) signalGroup(pid, 'SIGKILL');
    if (left.length > 0) await sweep(quarry, clock);
    await cgroup?.remove();
  }
  return ended;
}
