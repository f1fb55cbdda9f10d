// A job against the fake model, as a test sets it up: what is not said is the default of a user.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import * as v from 'valibot';
import { type JobResult, jobResult } from '../../shared/protocol/job-result.js';
import { type FakeModel, startFakeModel } from './fake-model-server.js';
import type { FakeScript, HttpDialect } from './model-steps.js';
import { cleanEnv, type Finished, type Running, type RunOptions, startTurnd, TURND } from './run-turnd.js';

export interface JobOptions extends RunOptions {
  readonly dialect?: HttpDialect;
  readonly prompt?: string;
  readonly args?: readonly string[];
  /** Left out: a fresh one of the test. */
  readonly stateDir?: string;
  readonly strict?: boolean;
}

export interface StartedJob extends Running {
  readonly model: FakeModel;
  readonly stateDir: string;
}

/** What a shell that may call AWS has set. */
export const AWS_ENV = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIDJOBCANARY',
  AWS_SECRET_ACCESS_KEY: 'canary-aws-secret-key',
  AWS_SESSION_TOKEN: 'canary-aws-session-token',
};

/** A folder outside of any checkout, gone when the test ends. */
export function scratch(t: Test, prefix = 'turnd-test-'): string {
  const dir = mkdtempSync(join(tmpdir(), prefix));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export async function startJob(t: Test, script: FakeScript, options: JobOptions = {}): Promise<StartedJob> {
  const model = await startFakeModel({ script, strict: options.strict ?? true });
  t.teardown(() => model.close());
  const stateDir = options.stateDir ?? join(scratch(t), 'state');
  const dialect = options.dialect ?? 'openai';
  const running = startTurnd(
    [
      '--prompt',
      options.prompt ?? 'Do it.',
      ...['--endpoint', model.url, '--dialect', dialect, '--model', 'scripted', '--state-dir', stateDir],
      ...(options.args ?? []),
    ],
    {
      cwd: options.cwd ?? scratch(t),
      ...options,
      env: { ...(dialect === 'bedrock' ? AWS_ENV : {}), ...options.env },
    },
  );
  t.teardown(() => running.child.kill('SIGKILL'));
  return { ...running, model, stateDir };
}

export interface FinishedJob extends Finished {
  readonly model: FakeModel;
  readonly stateDir: string;
}

export async function runJob(t: Test, script: FakeScript, options: JobOptions = {}): Promise<FinishedJob> {
  const job = await startJob(t, script, options);
  const finished = await job.finished;
  return { ...finished, model: job.model, stateDir: job.stateDir };
}

/** The one JSON document of `--output json`, held to its published schema. */
export function document(finished: Finished): JobResult {
  return v.parse(jobResult, JSON.parse(finished.stdout));
}

/** A job of the built-in model that is started by a line of shell. */
export function inShell(
  t: Test,
  line: string,
  args: readonly string[] = [],
  prompt = 'help',
): SpawnSyncReturns<string> {
  const home = scratch(t);
  const job = [process.execPath, TURND, '--prompt', prompt, '--dialect', 'builtin', ...args];
  return spawnSync('bash', ['-c', line, 'bash', ...job], {
    cwd: home,
    env: cleanEnv(home),
    encoding: 'utf8',
  });
}
