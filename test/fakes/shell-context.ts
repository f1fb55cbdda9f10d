// What a shell tool is called with, for tests: real clock, real folders, limits small enough to reach.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { TurnLimits } from '../../shared/ipc/turn-snapshot.js';
import type { ToolContext } from '../../worker/tools/executor.js';
import { endAllSessions } from '../../worker/tools/shell-sessions.js';

const LIMITS: TurnLimits = {
  rounds: 10,
  tokens: 1_000_000,
  deadline_ms: 600_000,
  loop_repeats: 4,
  tool_output_bytes: 8192,
  spill_bytes: 1024 * 1024,
  file_bytes: 1024 * 1024,
  exec_timeout_ms: 30_000,
  exec_timeout_max_ms: 60_000,
  exec_yield_ms: 30_000,
  parallel_calls: 8,
  fetch_bytes: 1024 * 1024,
  fetch_ms: 1000,
};

let turns = 0;

export interface ShellContext extends ToolContext {
  /** Ends the turn. */
  readonly abort: (reason: string) => void;
  /** What people who watch were shown. */
  readonly shown: string[];
}

/** A context over `root`, which must exist. Sessions are the caller's to end. */
export function shellContext(
  root: string,
  limits: Partial<TurnLimits> = {},
  remainingMs = 600_000,
): ShellContext {
  turns += 1;
  const stop = new AbortController();
  const spoolDir = join(root, 'spool');
  mkdirSync(spoolDir, { recursive: true, mode: 0o700 });
  const shown: string[] = [];
  return {
    workspaceRoot: root,
    spoolDir,
    processMarker: `test-${process.pid}-${turns}`,
    limits: { ...LIMITS, ...limits },
    security: { mode: 'full_access', source: 'default', containment: [], web_allow_private: [] },
    clock: systemClock,
    signal: stop.signal,
    callId: `call_${turns}`,
    output: (text) => shown.push(text),
    remainingMs: () => remainingMs,
    abort: (reason) => stop.abort(reason),
    shown,
  };
}

/** A context of its own for one test; its folder and its sessions go when the test ends. */
export function testContext(t: Test, limits: Partial<TurnLimits> = {}, remainingMs?: number): ShellContext {
  const root = mkdtempSync(join(tmpdir(), 'turnd-shell-'));
  const context = shellContext(root, limits, remainingMs);
  t.teardown(async () => {
    await endAllSessions(context.processMarker);
    rmSync(root, { recursive: true, force: true });
  });
  return context;
}

/** The parts of a result that tests look at. */
export interface ShellContent {
  readonly output: string;
  readonly exit_code: number | null;
  readonly signal?: string;
  readonly timed_out?: boolean;
  readonly interrupted?: boolean;
  readonly running?: boolean;
  readonly session_id: number;
  readonly duration_ms: number;
  readonly output_bytes: number;
  readonly omitted?: { readonly bytes: number; readonly lines: number };
  readonly notes?: readonly string[];
  readonly error?: string;
  readonly code?: string;
}
