// A process that runs one command through exec_command and tells what that cost it. Run by the output tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execCommand } from '../../worker/tools/exec-command.js';
import { memoryOf } from './processes.js';
import { shellContext } from './shell-context.js';

export interface FloodReport {
  readonly content: Record<string, unknown>;
  readonly grown_bytes: number;
  /** Longest time that a timer of 10 ms was late. */
  readonly late_ms: number;
  readonly spill_bytes: number;
}

/** Prints a FloodReport as JSON. */
async function beFlooded(command: string, timeoutMs: number): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'turnd-flood-'));
  const context = shellContext(root, { tool_output_bytes: 65_536, spill_bytes: 16 * 1024 * 1024 });
  // What every command needs is loaded and grown before the measure begins.
  await execCommand({ command: 'seq 1 100000' }, context);
  const before = memoryOf(process.pid).rss;
  let done = false;
  let lateMs = 0;
  const watch = async (): Promise<void> => {
    while (!done) {
      const asked = process.hrtime.bigint();
      await sleep(10);
      lateMs = Math.max(lateMs, Number(process.hrtime.bigint() - asked) / 1e6 - 10);
    }
  };
  const watching = watch();
  const result = await execCommand({ command, timeout_ms: timeoutMs }, context);
  done = true;
  await watching;
  const content = { ...(result.content as Record<string, unknown>), output: undefined };
  const report: FloodReport = {
    content,
    grown_bytes: memoryOf(process.pid).highest - before,
    late_ms: lateMs,
    spill_bytes: result.spill?.bytes ?? 0,
  };
  rmSync(root, { recursive: true, force: true });
  process.stdout.write(JSON.stringify(report));
}

const [command = '', timeoutMs = '0'] = process.argv.slice(2);
await beFlooded(command, Number(timeoutMs));
