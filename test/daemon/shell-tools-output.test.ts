// Endless output costs the worker no memory, no disk beyond the cap and no attention.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import type { FloodReport } from '../fakes/output-flood.js';

const MB = 1024 * 1024;

async function flood(command: string, timeoutMs: number): Promise<FloodReport> {
  const program = fileURLToPath(new URL('../fakes/output-flood.js', import.meta.url));
  const args = [...process.execArgv, program, command, String(timeoutMs)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as FloodReport;
}

const ENDLESS: readonly (readonly [string, string])[] = [
  ['short lines', 'yes'],
  ['one line without an end', "tr '\\0' x </dev/zero"],
  ['bytes that are no text', 'cat /dev/urandom'],
  ['zeros', 'cat /dev/zero'],
  ['many small writes', 'while :; do echo $RANDOM; done'],
];

for (const [what, command] of ENDLESS) {
  t.test(`endless output of ${what} is ended by the time limit and leaves memory flat`, async (t) => {
    const report = await flood(command, 1000);
    t.match(report.content, { timed_out: true });
    t.ok(report.grown_bytes < 50 * MB, `${Math.round(report.grown_bytes / MB)} MB grown`);
    t.ok(report.late_ms < 200, `timers at most ${Math.round(report.late_ms)} ms late`);
    t.ok(Number(report.content['duration_ms']) < 4000, `ended after ${report.content['duration_ms']} ms`);
    t.ok(report.spill_bytes <= 16 * MB, `${report.spill_bytes} bytes on disk`);
    t.ok(Number(report.content['output_bytes']) > 1000, `${report.content['output_bytes']} bytes came`);
  });
}

t.test('two gigabytes of one line come to their end, counted to the byte', async (t) => {
  const report = await flood("tr '\\0' x </dev/zero | head -c 2G", 60_000);
  t.match(report.content, { exit_code: 0, output_bytes: 2 ** 31 });
  t.match(report.content['omitted'], { bytes: 2 ** 31 - 65_536, lines: 0 });
  t.ok(report.grown_bytes < 50 * MB, `${Math.round(report.grown_bytes / MB)} MB grown`);
  t.equal(report.spill_bytes, 16 * MB);
});
