// The real daemon, as a user starts it, before the fake model.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Door } from './checked-client.js';
import { type FakeModel, startFakeModel } from './fake-model-server.js';
import { scratch } from './job.js';
import type { FakeScript } from './model-steps.js';
import { eventually } from './processes.js';
import { type Running, startTurnd } from './run-turnd.js';

export interface ServedDaemon extends Door, Running {
  readonly model: FakeModel;
  readonly stateDir: string;
  readonly cwd: string;
}

export interface ServeOptions {
  /** Left out: a fresh one of the test. */
  readonly stateDir?: string;
  /** Endpoints that are to be tried before the fake model. */
  readonly endpointsBefore?: readonly string[];
  /** Further lines of its configuration. */
  readonly config?: string;
}

/** Resolves when clients can connect. */
export async function serveDaemon(
  t: Test,
  script: FakeScript,
  options: ServeOptions = {},
): Promise<ServedDaemon> {
  const model = await startFakeModel({ script });
  t.teardown(() => model.close());
  const home = scratch(t);
  const stateDir = options.stateDir ?? join(home, 'state');
  const config = join(home, 'turnd.yaml');
  const lines = [
    'intelligence:',
    `  endpoints: ${JSON.stringify([...(options.endpointsBefore ?? []), model.openaiUrl])}`,
    '  model: scripted',
    'gateway: {listen: "http://127.0.0.1:0"}',
    options.config ?? '',
  ];
  writeFileSync(config, lines.join('\n'));
  const cwd = scratch(t);
  const running = startTurnd(['serve', '--config', config, '--state-dir', stateDir, '--cwd', cwd]);
  t.teardown(() => running.child.kill('SIGKILL'));
  const mark = join(stateDir, 'daemon.json');
  let over = false;
  void running.finished.then(() => {
    over = true;
  });
  await eventually(() => over || existsSync(mark), 15_000);
  if (over) throw new Error(`the daemon ended: ${(await running.finished).stderr}`);
  const { url, token_file } = JSON.parse(readFileSync(mark, 'utf8'));
  return { ...running, model, stateDir, cwd, url, token: readFileSync(token_file, 'utf8').trim() };
}
