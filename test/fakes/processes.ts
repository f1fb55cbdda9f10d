// What runs on this machine, read from /proc: to prove that nothing of a turn is left.
import { readdirSync, readFileSync } from 'node:fs';

/** Command lines of live processes (no zombies) whose command line or environment holds the word. */
export function processesWith(word: string): { pid: number; command: string }[] {
  const found: { pid: number; command: string }[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = read(pid, 'cmdline').replaceAll('\0', ' ').trim();
    if (command === '' || isZombie(pid)) continue;
    if (command.includes(word) || read(pid, 'environ').includes(word)) found.push({ pid, command });
  }
  return found;
}

function isZombie(pid: number): boolean {
  return / Z /.test(read(pid, 'stat').replace(/\(.*\)/s, ''));
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Resident memory of a process in bytes, now and at its highest. */
export function memoryOf(pid: number): { rss: number; highest: number } {
  const status = read(pid, 'status');
  const kb = (field: string): number =>
    Number(status.match(new RegExp(`${field}:\\s+(\\d+)`))?.[1] ?? 0) * 1024;
  return { rss: kb('VmRSS'), highest: kb('VmHWM') };
}

/** Looks until the predicate holds or the bound passes; tells whether it held. */
export async function eventually(predicate: () => boolean, boundMs: number): Promise<boolean> {
  const end = process.hrtime.bigint() + BigInt(boundMs) * 1_000_000n;
  while (!predicate()) {
    if (process.hrtime.bigint() > end) return false;
    await new Promise((resolve) => setImmediate(() => setTimeout(resolve, 10)));
  }
  return true;
}
