// What a worker's environment holds: an allow-list, so no key of the supervisor's can reach what a turn starts.
import { MARKER_NAME } from './sweep.js';

const ALLOWED = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL'];

export function workerEnvironment(own: NodeJS.ProcessEnv, marker: string): Record<string, string> {
  const environment: Record<string, string> = { [MARKER_NAME]: marker };
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && (ALLOWED.includes(name) || name.startsWith('LC_'))) environment[name] = value;
  }
  return environment;
}
