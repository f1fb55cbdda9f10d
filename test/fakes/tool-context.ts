// What a file or web tool is called with, for tests: a real folder, a spool beside it, limits small enough to reach.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { TurnLimits } from '../../shared/ipc/turn-snapshot.js';
import type { JsonObject } from '../../shared/json.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { ToolContext } from '../../worker/tools/executor.js';
import { EXECUTORS } from '../../worker/tools/registry.js';

const SMALL_LIMITS: TurnLimits = {
  rounds: 10,
  tokens: 1_000_000,
  deadline_ms: 600_000,
  loop_repeats: 4,
  tool_output_bytes: 8192,
  spill_bytes: 4 * 1024 * 1024,
  file_bytes: 1024 * 1024,
  exec_timeout_ms: 30_000,
  exec_timeout_max_ms: 60_000,
  exec_yield_ms: 30_000,
  parallel_calls: 8,
  fetch_bytes: 256 * 1024,
  fetch_ms: 20_000,
};

let turns = 0;

export interface TestTools {
  readonly root: string;
  readonly context: ToolContext;
  /** Ends the turn. */
  readonly abort: () => void;
  /** Runs a tool; its content as an object. */
  call(tool: string, params: JsonObject): Promise<Called>;
}

export interface Called {
  readonly content: JsonObject;
  readonly is_error: boolean;
  readonly error: string;
  readonly spill: ToolResult['spill'];
}

export interface TestToolOptions {
  readonly limits?: Partial<TurnLimits>;
  readonly allowPrivate?: readonly string[];
  readonly context?: Partial<ToolContext>;
}

/** Tools over `root`; the spool goes when the test ends. */
export function testTools(t: Test, root: string, options: TestToolOptions = {}): TestTools {
  turns += 1;
  const stop = new AbortController();
  const spoolDir = mkdtempSync(join(tmpdir(), 'turnd-spool-'));
  t.teardown(() => rmSync(spoolDir, { recursive: true, force: true }));
  const context: ToolContext = {
    workspaceRoot: root,
    spoolDir,
    processMarker: `test-tools-${process.pid}-${turns}`,
    limits: { ...SMALL_LIMITS, ...options.limits },
    security: {
      mode: 'full_access',
      source: 'default',
      containment: [],
      web_allow_private: [...(options.allowPrivate ?? [])],
    },
    clock: systemClock,
    signal: stop.signal,
    callId: `call_${turns}`,
    output: () => undefined,
    remainingMs: () => 600_000,
    ...options.context,
  };
  const call = async (tool: string, params: JsonObject): Promise<Called> => {
    const executor = EXECUTORS[tool];
    if (executor === undefined) throw new TypeError(`no tool ${tool}`);
    return calledOf(await executor(params, context));
  };
  return { root, context, abort: () => stop.abort(), call };
}

/** A result with its content as an object and its sentence at hand. */
export function calledOf(result: ToolResult): Called {
  const { content, is_error, spill } = result;
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new TypeError('the content of a result is an object');
  return { content, is_error, error: String(content['error'] ?? ''), spill };
}
