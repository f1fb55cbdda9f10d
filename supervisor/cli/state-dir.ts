// Where a command keeps its state: the pinned directory, or for a bare job a fresh one below the state home, so that
// jobs never collide.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export function stateHome(env: NodeJS.ProcessEnv): string {
  const systemd = env['STATE_DIRECTORY']?.split(':')[0];
  if (systemd) return systemd;
  const xdg = env['XDG_STATE_HOME'];
  return xdg ? join(xdg, 'turnd') : join(env['HOME'] || homedir(), '.local', 'state', 'turnd');
}

/** `stamp` makes the fresh directory's name; it sorts by time. */
export function jobStateDir(
  pinned: string | null,
  env: NodeJS.ProcessEnv,
  cwd: string,
  stamp: string,
): string {
  return pinned === null ? join(stateHome(env), 'jobs', stamp) : resolve(cwd, pinned);
}

/** A daemon keeps its state in the state home itself, so that the verbs find it there. */
export function daemonStateDir(pinned: string | null, env: NodeJS.ProcessEnv, cwd: string): string {
  return pinned === null ? stateHome(env) : resolve(cwd, pinned);
}
