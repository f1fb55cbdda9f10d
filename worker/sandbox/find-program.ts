// Looks a program up on a PATH. Relative entries are skipped: what contains a command must not come from the workspace.
import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** Absolute path of the first executable file called `name`, or null. */
export function findProgram(name: string, path: string): string | null {
  for (const folder of path.split(':')) {
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, name);
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return candidate;
    } catch {
      // Not here; the next folder may have it.
    }
  }
  return null;
}
