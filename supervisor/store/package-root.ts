// Where the files of this package lie, whether it runs from its sources, compiled, or bundled.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with the numbered SQL files: the copy of the build for what was built, else the sources themselves. */
export function migrationsFolder(): string {
  const here = fileURLToPath(import.meta.url);
  const root = packageRoot(dirname(here));
  const built = here.startsWith(join(root, 'dist'));
  return built ? join(root, 'dist', 'migrations') : join(root, 'supervisor', 'store', 'migrations');
}

function packageRoot(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new TypeError(`no package.json above ${start}`);
  }
}
