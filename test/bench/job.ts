// One-shot jobs as a script sees them: wall time of the whole command against an empty Node script, side by side.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../shared/clock.js';
import { type FakeModel, startFakeModel } from '../fakes/fake-model-server.js';
import type { FakeStep } from '../fakes/model-steps.js';
import { cleanEnv, TURND } from '../fakes/run-turnd.js';
import type { BenchRow } from './bench-row.js';
import { quantile } from './quantile.js';

const RUNS = 15;
const ROUNDS = 10;

interface Case {
  readonly name: string;
  readonly mostRatio: number;
  readonly steps: readonly FakeStep[];
}

const CASES: readonly Case[] = [
  { name: 'job: immediate answer', mostRatio: 4, steps: [{ text: 'done' }] },
  {
    name: `job: ${ROUNDS} tool rounds`,
    mostRatio: 8,
    steps: [
      ...Array.from({ length: ROUNDS }, (_, round) => ({
        calls: [{ name: 'read_file', arguments: { path: `file-${round}.txt` } }],
      })),
      { text: 'done' },
    ],
  },
];

export async function jobBench(): Promise<BenchRow[]> {
  const home = mkdtempSync(join(tmpdir(), 'turnd-bench-'));
  try {
    for (let round = 0; round < ROUNDS; round += 1)
      writeFileSync(join(home, `file-${round}.txt`), `${round}\n`);
    const rows: BenchRow[] = [];
    for (const one of CASES) rows.push(await benchCase(one, home));
    return rows;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function benchCase(one: Case, home: string): Promise<BenchRow> {
  const script = Array.from({ length: RUNS + 1 }, () => one.steps).flat();
  const model = await startFakeModel({ script });
  try {
    const jobs: number[] = [];
    const empties: number[] = [];
    // The first pair fills the caches of the disk and is not counted.
    for (let run = 0; run <= RUNS; run += 1) {
      const pair =
        run % 2 === 0
          ? [await timeJob(model, home), await timeEmpty(home)]
          : [await timeEmpty(home), await timeJob(model, home)].reverse();
      if (run === 0) continue;
      jobs.push(pair[0] ?? 0);
      empties.push(pair[1] ?? 0);
    }
    model.assertDone();
    const p50 = quantile(jobs, 0.5);
    const baseline = quantile(empties, 0.5);
    const ratio = p50 / baseline;
    return {
      name: one.name,
      unit: 'ms',
      value: p50,
      baseline,
      ratio,
      p50,
      p99: quantile(jobs, 0.99),
      bound: `<= ${one.mostRatio}x node -e 0`,
      ok: ratio <= one.mostRatio,
    };
  } finally {
    await model.close();
  }
}

function timeJob(model: FakeModel, home: string): Promise<number> {
  return timed([TURND, '--prompt', 'go', '--endpoint', model.url, '--model', 'fake'], home);
}

function timeEmpty(home: string): Promise<number> {
  return timed(['-e', '0'], home);
}

/** Wall time from the spawn to the end of a Node process that must succeed. */
function timed(args: readonly string[], home: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = systemClock.monotonic();
    const child = spawn(process.execPath, args, {
      cwd: home,
      env: cleanEnv(home),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stdout.resume();
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      const elapsed = systemClock.monotonic() - started;
      if (code === 0) resolve(elapsed);
      else reject(new Error(`node ${args.slice(0, 3).join(' ')} ended with ${code}: ${stderr}`));
    });
  });
}
