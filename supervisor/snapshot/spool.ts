// Where a turn spills long output: a private folder in the state directory that goes with the turn. What was worth
// keeping has been taken over as an artifact by then; a command that was killed leaves only waste.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 'spool';

/** Makes the folder of a turn and gives its path. */
export function makeSpool(stateDir: string, turnId: string): string {
  const path = join(stateDir, FOLDER, turnId);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

/** Removes a folder of `makeSpool`, when nobody writes there any more. */
export function dropSpool(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // A disk that refuses keeps the waste, and no turn from ending: the next start tries again.
  }
}

/** Removes what earlier supervisors could not. Before a turn starts. */
export function dropOldSpools(stateDir: string): void {
  for (const name of readdirSync(join(stateDir, FOLDER))) dropSpool(join(stateDir, FOLDER, name));
}
