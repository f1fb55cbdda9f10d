// `daemon.json`: where the daemon of a state directory is reached. There while it can answer, and no longer.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DaemonFile } from '../../shared/client/daemon-file.js';

export function writeDaemonFile(stateDir: string, content: DaemonFile): () => void {
  const path = join(stateDir, 'daemon.json');
  const fresh = `${path}.${content.pid}`;
  writeFileSync(fresh, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  renameSync(fresh, path);
  return () => {
    try {
      // Another daemon may have taken its place.
      if (readFileSync(path, 'utf8') === `${JSON.stringify(content)}\n`) rmSync(path);
    } catch {
      // Somebody removed it: that is what was wanted.
    }
  };
}
