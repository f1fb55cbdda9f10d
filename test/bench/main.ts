// `npm run bench`: runs the benches and prints one table. Words select benches (`npm run bench -- job ipc`), `--json`
// prints one document. It compares and never gates: a missed bound is marked, and the exit code stays 0.
import { arch, cpus, platform, release, totalmem } from 'node:os';
import type { BenchRow } from './bench-row.js';
import { benchTable } from './bench-table.js';

interface Bench {
  readonly word: string;
  readonly run: () => Promise<readonly BenchRow[]>;
}

/** Each is loaded when it runs, so that none measures the others' modules. */
const BENCHES: readonly Bench[] = [
  { word: 'job', run: async () => (await import('./job.js')).jobBench() },
  { word: 'warm', run: async () => (await import('./warm.js')).warmBench() },
  { word: 'spawn', run: async () => (await import('./spawn.js')).spawnBench() },
  { word: 'queue', run: async () => (await import('./queue.js')).queueBench() },
  { word: 'ipc', run: async () => (await import('./ipc.js')).ipcBench() },
  { word: 'journal', run: async () => (await import('./journal.js')).journalBench() },
  { word: 'scale', run: async () => (await import('./scale.js')).scaleBench() },
];

interface Failed {
  readonly bench: string;
  readonly message: string;
}

async function main(args: readonly string[]): Promise<void> {
  const json = args.includes('--json');
  const words = args.filter((arg) => !arg.startsWith('--'));
  const chosen = BENCHES.filter(({ word }) => words.length === 0 || words.includes(word));
  if (chosen.length === 0) {
    process.stderr.write(
      `There is no such bench; there are ${BENCHES.map(({ word }) => word).join(', ')}.\n`,
    );
    process.exitCode = 2;
    return;
  }
  const rows: BenchRow[] = [];
  const failures: Failed[] = [];
  for (const { word, run } of chosen) {
    process.stderr.write(`bench: ${word}\n`);
    try {
      rows.push(...(await run()));
    } catch (error) {
      failures.push({ bench: word, message: error instanceof Error ? error.message : String(error) });
    }
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 1e9)} GB, ${platform()} ${release()} ${arch()}`;
  const report = json
    ? JSON.stringify({ machine, node: process.version, rows, failures }, null, 2)
    : `${machine}\nNode ${process.version}\n\n${benchTable(rows)}${failures.map(({ bench, message }) => `\nbench ${bench} did not run: ${message}`).join('')}`;
  process.stdout.write(`${report}\n`);
}

// What a bench may have left open must not keep the command from ending.
void main(process.argv.slice(2)).then(() => process.stdout.write('', () => process.exit()));
