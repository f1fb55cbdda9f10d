// Which layers make sure, on this machine, that what a turn starts ends with it. Strongest first, by the names that the
// security snapshot shows. Found out by looking at files only, on first use; what cannot be told so is not claimed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupBase } from './cgroup.js';
import { deathSignalTool } from './spawn-worker.js';

/** The capability that lets a process make namespaces; its bit in the kernel's mask. */
const CAP_SYS_ADMIN = 21n;

let layers: readonly string[] | undefined;

export function containmentLayers(): string[] {
  layers ??= [
    ...(commandNamespaces() ? ['pid_namespace'] : []),
    ...(cgroupBase() === null ? [] : ['cgroup']),
    'process_group',
    ...(deathSignalTool(process.env['PATH']) === null ? [] : ['parent_death_signal']),
    ...(existsSync('/bin/sh') ? ['guard'] : []),
    'environment_marker',
  ];
  return [...layers];
}

/** Whether commands can have a process namespace each: by right, or inside a user namespace of their own. */
function commandNamespaces(): boolean {
  const folders = (process.env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  if (!folders.some((folder) => existsSync(join(folder, 'unshare')))) return false;
  const status = textOf('/proc/self/status');
  const capabilities = BigInt(`0x${status.match(/^CapEff:\s*([0-9a-f]+)/m)?.[1] ?? '0'}`);
  if ((capabilities >> CAP_SYS_ADMIN) & 1n) return true;
  // A filter of system calls may forbid user namespaces, and does not say so.
  if (!/^Seccomp:\s*0/m.test(status)) return false;
  const number = (path: string, otherwise: string): number => Number(textOf(path) || otherwise);
  return (
    number('/proc/sys/user/max_user_namespaces', '0') > 0 &&
    number('/proc/sys/kernel/unprivileged_userns_clone', '1') === 1 &&
    number('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '0') === 0
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return '';
  }
}
