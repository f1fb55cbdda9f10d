// Runs the real command as a user would: the built bundle, a clean environment, pipes, and what came out of it.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout, from the source as well as from the compiled tests. */
export const ROOT = fileURLToPath(
  new URL(import.meta.url.includes('/dist/compiled/') ? '../../../../' : '../../', import.meta.url),
);
export const TURND = join(ROOT, 'dist/turnd.cjs');

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Text for stdin; absent: stdin is closed at once. `open`: it stays open and silent. */
  readonly stdin?: string | 'open';
}

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves with the first match in stderr or stdout so far. */
  seen(pattern: RegExp): Promise<RegExpMatchArray>;
}

/** A clean environment: no keys, no extra certificates, a home of its own. */
export function cleanEnv(home: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8', ...more };
}

const HOME = mkdtempSync(join(tmpdir(), 'turnd-home-'));
process.on('exit', () => rmSync(HOME, { recursive: true, force: true }));

export function startTurnd(args: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(process.execPath, [TURND, ...args], {
    cwd: options.cwd ?? HOME,
    // Messages of tests are full of work; a test that wants a look at them before their turns says so.
    env: cleanEnv(HOME, { TURND_AGENT_PREFLIGHT: 'never', ...options.env }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    notify();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    notify();
  });
  child.stdin.on('error', () => undefined);
  if (options.stdin !== 'open') child.stdin.end(options.stdin ?? '');
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr });
      notify();
    });
  });
  const seen = (pattern: RegExp): Promise<RegExpMatchArray> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const match = stderr.match(pattern) ?? stdout.match(pattern);
        if (match === null && child.exitCode === null && child.signalCode === null) return;
        watchers.delete(check);
        if (match !== null) resolve(match);
        else reject(new Error(`ended before ${pattern}; stderr: ${stderr}`));
      };
      watchers.add(check);
      check();
    });
  return { child, finished, seen };
}

export function runTurnd(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return startTurnd(args, options).finished;
}
