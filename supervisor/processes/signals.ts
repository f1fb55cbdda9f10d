// The only place that sends signals. Never to pid 0, 1 or a negative by accident: those mean "everyone" to the kernel.
import { readStat } from './proc-files.js';

/** Signals every process of a group; false when there is none. */
export function signalGroup(pgid: number, signal: NodeJS.Signals): boolean {
  return pgid > 1 && send(-pgid, signal);
}

/** Signals one process if it is still the one that started then; false when it is gone. */
export function signalProcess(pid: number, start: string, signal: NodeJS.Signals): boolean {
  return pid > 1 && readStat(pid)?.start === start && send(pid, signal);
}

function send(target: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
}
