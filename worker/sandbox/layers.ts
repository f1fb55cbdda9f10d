// The ways to contain a command, strongest first, and the arguments of each. A way that does not hold on this machine
// shows by its init not coming up (see init-script.ts); nothing of the command has run by then.
import { findProgram } from './find-program.js';
import { INIT_GROUP, INIT_TIED, INIT_WATCHED } from './init-script.js';

export interface Layer {
  readonly name: 'pid_namespace' | 'process_group';
  /** Everything up to the id of the command. */
  readonly wrapper: readonly string[];
  /** Between the id and the command: gives the command a session of its own, so that its `kill 0` reaches nobody else. */
  readonly session: readonly string[];
  /** Leads a session outside the worker's group, because no namespace holds it together. */
  readonly detached: boolean;
}

/**
 * `--kill-child` ends the namespace with its wrapper, and `--pdeathsig` ends the wrapper with the worker. A new /proc is
 * mounted where allowed, so that process ids in it are those the command sees; nothing else of the mounts changes.
 */
const NAMESPACES: readonly (readonly string[])[] = [
  ['--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'unchanged'],
  ['--user', '--map-current-user', '--pid', '--fork', '--kill-child', '--mount-proc'],
  ['--pid', '--fork', '--kill-child'],
  ['--user', '--map-current-user', '--pid', '--fork', '--kill-child'],
];

function namespaceLayers(path: string, isRoot: boolean, shell: string, session: readonly string[]): Layer[] {
  const unshare = findProgram('unshare', path);
  if (unshare === null) return [];
  const setpriv = findProgram('setpriv', path);
  const tie = setpriv === null ? [] : [setpriv, '--pdeathsig', 'KILL'];
  const init = setpriv === null ? INIT_WATCHED : INIT_TIED;
  return NAMESPACES.filter((flags) => isRoot || flags.includes('--user')).map((flags) => ({
    name: 'pid_namespace',
    wrapper: [...tie, unshare, ...flags, shell, '-c', init, 'turnd-init'],
    session,
    detached: false,
  }));
}

/** Every way worth trying on this machine, strongest first; empty only where there is no shell. */
export function containmentLayers(path: string, isRoot: boolean): Layer[] {
  const shell = findProgram('sh', path);
  if (shell === null) return [];
  const setsid = findProgram('setsid', path);
  const session = setsid === null ? [] : [setsid];
  return [
    ...namespaceLayers(path, isRoot, shell, session),
    { name: 'process_group', wrapper: [shell, '-c', INIT_GROUP, 'turnd-init'], session, detached: true },
  ];
}
