// Where the bundled worker lies: beside the bundled command, or in dist when this code runs unbundled, as tests do.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PLACES = ['.', '../..', '../../..', '../../dist'];

export function workerFile(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const files = PLACES.map((place) => join(here, place, 'worker.cjs'));
  return files.find((file) => existsSync(file)) ?? join(here, 'worker.cjs');
}
