// Reads /proc: who descends from whom, and who carries a marker. Knows nothing of commands or turns.
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** One letter, as in proc(5). Z is a process that has ended and waits to be collected. */
  readonly state: string;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null; // Ended since it was listed, or not ours to read.
  }
}

function processInfo(pid: number): ProcessInfo | null {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The name stands in brackets and may itself hold brackets and spaces, so the last bracket counts.
  const close = stat.lastIndexOf(')');
  const [state = '?', parent = '0'] = stat.slice(close + 2).split(' ');
  return { pid, parent: Number(parent), name: stat.slice(stat.indexOf('(') + 1, close), state };
}

/** None where the list is hidden from us: what cannot be seen cannot be named, and the command itself still ran. */
function allPids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Children of a process, from the kernel's own list where it keeps one, else from a walk over all processes. */
export function childrenOf(pid: number): number[] {
  const listed = readText(`/proc/${pid}/task/${pid}/children`);
  if (listed !== null) return listed.split(' ').filter(Boolean).map(Number);
  return allPids().filter((candidate) => processInfo(candidate)?.parent === pid);
}

/** Everything below `root` that still runs (ended ones that wait to be collected are left out), nearest first. */
export function descendantsOf(root: number): ProcessInfo[] {
  const byParent = new Map<number, ProcessInfo[]>();
  for (const pid of allPids()) {
    const info = processInfo(pid);
    if (info === null) continue;
    const siblings = byParent.get(info.parent);
    if (siblings === undefined) byParent.set(info.parent, [info]);
    else siblings.push(info);
  }
  const found: ProcessInfo[] = [];
  const queue = [root];
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    for (const child of byParent.get(pid) ?? []) {
      queue.push(child.pid);
      if (child.state !== 'Z') found.push(child);
    }
  }
  return found;
}

/** Running processes whose environment at their start held `assignment` (`NAME=value`). */
export function processesWith(assignment: string): ProcessInfo[] {
  const found: ProcessInfo[] = [];
  for (const pid of allPids()) {
    if (pid === process.pid) continue;
    if (!readText(`/proc/${pid}/environ`)?.split('\0').includes(assignment)) continue;
    const info = processInfo(pid);
    if (info !== null && info.state !== 'Z') found.push(info);
  }
  return found;
}

/** Sends a signal; one that ended meanwhile, or is not ours, is passed over. A negative pid names a group. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}
