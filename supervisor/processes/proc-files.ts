// Reads what the kernel says about processes. Only reads, and everything it reads may be gone a moment later.
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

export interface ProcessStat {
  readonly pid: number;
  /** One letter: R, S, D, T, Z, X … */
  readonly state: string;
  readonly ppid: number;
  readonly pgrp: number;
  readonly session: number;
  /** Clock ticks since boot, as text: with the pid it names one process for good. */
  readonly start: string;
}

/** The fields after the command, which stands in brackets and may itself hold brackets and spaces. */
function parseStat(pid: number, text: string): ProcessStat | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, pgrp, session] = fields;
  const start = fields[19];
  if (state === undefined || session === undefined || start === undefined) return null;
  return { pid, state, ppid: Number(ppid), pgrp: Number(pgrp), session: Number(session), start };
}

/** Larger than any line of the kernel's. */
const line = Buffer.allocUnsafe(4096);

export function readStat(pid: number): ProcessStat | null {
  // A scan reads hundreds of these: one read into one buffer costs a third of readFileSync.
  let file: number;
  try {
    file = openSync(`/proc/${pid}/stat`, 'r');
  } catch {
    return null;
  }
  try {
    return parseStat(pid, line.toString('latin1', 0, readSync(file, line, 0, line.length, 0)));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** True for a process that still runs or could run again; a zombie only waits to be reaped. */
export function isLive(stat: ProcessStat): boolean {
  return stat.state !== 'Z' && stat.state !== 'X';
}

export function listPids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Whether the environment a process was started with holds exactly `NAME=value`. False when it may not be read. */
export function hasEnvironment(pid: number, entry: string): boolean {
  try {
    const environ = readFileSync(`/proc/${pid}/environ`, 'latin1');
    return environ.startsWith(`${entry}\0`) || environ.includes(`\0${entry}\0`);
  } catch {
    return false;
  }
}

const PAGE_BYTES = 4096;

/** Memory of a process that is in RAM now; null when it is gone. */
export function residentBytes(pid: number): number | null {
  try {
    const [, pages] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
    return Number(pages) * PAGE_BYTES;
  } catch {
    return null;
  }
}
