// Finds and ends what a worker started and what may have left its process group: by control group, session, group,
// parentage and the marker in the environment. A process is named by pid and start time, so a reused pid is never hit.
import { type Clock, sleep } from '../../shared/clock.js';
import type { WorkerCgroup } from './cgroup.js';
import { hasEnvironment, isLive, listPids, type ProcessStat, readStat } from './proc-files.js';
import { signalGroup, signalProcess } from './signals.js';

/** Whose processes are looked for. */
export interface Quarry {
  readonly pid: number;
  readonly pidStart: string;
  readonly marker: string;
  readonly cgroup: WorkerCgroup | null;
  /** Descendants seen while their parents still lived: pid to start time. */
  readonly known: ReadonlyMap<number, string>;
}

/** How long the sweep goes on when something does not die of SIGKILL. */
const SWEEP_MAX_MS = 2_000;
const PAUSE_MAX_MS = 50;
export const MARKER_NAME = 'TURND_TURN';

/** All live processes of the quarry, the worker itself included. One pass over /proc. */
export function findProcesses(quarry: Quarry): ProcessStat[] {
  const entry = `${MARKER_NAME}=${quarry.marker}`;
  const inCgroup = new Set(quarry.cgroup?.pids() ?? []);
  // Nothing leaves a control group by itself: where it holds all, an empty one says what a look at every process would.
  if (quarry.cgroup?.holdsAll && inCgroup.size === 0 && quarry.known.size === 0) return [];
  // What started before the worker cannot descend from it; that spares reading most of the machine's environments.
  const candidates = listPids()
    .filter((pid) => pid > 1 && pid !== process.pid)
    .map(readStat)
    .filter((stat): stat is ProcessStat => stat !== null)
    .filter((stat) => isLive(stat) && Number(stat.start) >= Number(quarry.pidStart));
  const leader = readStat(quarry.pid);
  const ownsGroup = quarry.pid > 1 && (leader === null || leader.start === quarry.pidStart);
  const found = new Map<number, ProcessStat>();
  for (const stat of candidates) {
    const member = ownsGroup && (stat.session === quarry.pid || stat.pgrp === quarry.pid);
    const seen = inCgroup.has(stat.pid) || quarry.known.get(stat.pid) === stat.start;
    if (member || seen || hasEnvironment(stat.pid, entry)) found.set(stat.pid, stat);
  }
  addDescendants(candidates, found);
  return [...found.values()];
}

function addDescendants(candidates: readonly ProcessStat[], found: Map<number, ProcessStat>): void {
  let before = -1;
  while (found.size !== before) {
    before = found.size;
    for (const stat of candidates) if (found.has(stat.ppid)) found.set(stat.pid, stat);
  }
}

/** A process that had left the group of its worker. */
export function isStray(quarry: Quarry, stat: ProcessStat): boolean {
  return stat.pgrp !== quarry.pid;
}

/** Ends everything that is left, again and again until a scan finds none; gives every process that it ended. */
export async function sweep(quarry: Quarry, clock: Clock): Promise<ProcessStat[]> {
  const ended = new Map<string, ProcessStat>();
  const endMs = clock.monotonic() + SWEEP_MAX_MS;
  for (let pauseMs = 1; clock.monotonic() < endMs; pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2)) {
    const left = findProcesses(quarry);
    if (left.length === 0) break;
    quarry.cgroup?.kill();
    for (const stat of left) {
      ended.set(`${stat.pid}:${stat.start}`, stat);
      signalProcess(stat.pid, stat.start, 'SIGKILL');
    }
    await sleep(clock, pauseMs);
  }
  return [...ended.values()];
}

/** SIGKILL to the group and to every descendant that can be found now, worker included; gives what was found. */
export function killTree(quarry: Quarry): ProcessStat[] {
  const found = findProcesses(quarry);
  quarry.cgroup?.kill();
  signalGroup(quarry.pid, 'SIGKILL');
  for (const stat of found) signalProcess(stat.pid, stat.start, 'SIGKILL');
  return found;
}
