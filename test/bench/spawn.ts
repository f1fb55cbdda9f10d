// What a worker costs: its start against a bare Node process that sends one message, the CPU of a one-round turn, and
// the memory of an idle spare that has rehearsed.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { systemClock } from '../../shared/clock.js';
import { workerFile } from '../../supervisor/processes/worker-file.js';
import { startFakeModel } from '../fakes/fake-model-server.js';
import { ROOT } from '../fakes/run-turnd.js';
import { sceneWorker } from '../fakes/scene-worker.js';
import { MODEL, turnFrame } from '../fakes/turn-frame.js';
import type { BenchRow } from './bench-row.js';
import { quantile } from './quantile.js';

const RUNS = 30;
const START_RATIO = 1.3;
const TURN_CPU_MS = 45;
const SPARE_MB = 12;
/** Length of one clock tick of the kernel's CPU accounts. */
const TICK_MS = 10;

export async function spawnBench(): Promise<BenchRow[]> {
  return [await start(), await cpu(), ...(await memory())];
}

async function start(): Promise<BenchRow> {
  const workers: number[] = [];
  const bares: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    // Side by side in turns, so that both see the same machine.
    if (run % 2 === 0) bares.push(await timeBare());
    workers.push(await timeWorker());
    if (run % 2 === 1) bares.push(await timeBare());
  }
  const value = quantile(workers, 0.5);
  const baseline = quantile(bares, 0.5);
  const ratio = value / baseline;
  return {
    name: 'spawn: worker until ready, against a bare process',
    unit: 'ms',
    value,
    baseline,
    ratio,
    p50: value,
    p99: quantile(workers, 0.99),
    bound: `<= ${START_RATIO}x`,
    ok: ratio <= START_RATIO,
  };
}

async function timeWorker(): Promise<number> {
  const startedMs = systemClock.monotonic();
  const { worker } = sceneWorker('', {}, workerFile());
  await worker.ready;
  const tookMs = systemClock.monotonic() - startedMs;
  worker.end('cancel', { now: true });
  await worker.ended;
  return tookMs;
}

async function timeBare(): Promise<number> {
  const startedMs = systemClock.monotonic();
  const child = spawn(process.execPath, [`${ROOT}/test/fixtures/bare-worker.cjs`], {
    cwd: '/',
    detached: true,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  await new Promise((resolve) => (child.stdio[4] as Socket).once('data', resolve));
  const tookMs = systemClock.monotonic() - startedMs;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  (child.stdio[3] as Socket).write('go');
  await exited;
  return tookMs;
}

/** CPU of children of this process that have ended, user and system, in milliseconds. */
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

async function cpu(): Promise<BenchRow> {
  const model = await startFakeModel({ script: Array.from({ length: RUNS }, () => ({ text: 'done' })) });
  const settings = { ...MODEL, dialect: 'openai' as const, model: 'fake', url: model.openaiUrl };
  let turnsMs = 0;
  let baresMs = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const beforeMs = childrenCpuMs();
    const { worker } = sceneWorker('', {}, workerFile());
    await worker.ready;
    worker.send(turnFrame({ model: settings }));
    await worker.ended;
    const betweenMs = childrenCpuMs();
    await timeBare();
    turnsMs += betweenMs - beforeMs;
    baresMs += childrenCpuMs() - betweenMs;
  }
  await model.close();
  const value = turnsMs / RUNS;
  return {
    name: 'spawn: CPU of a worker for a one-round turn, against a bare process',
    unit: 'ms',
    value,
    baseline: baresMs / RUNS,
    ratio: turnsMs / baresMs,
    bound: `<= ${TURN_CPU_MS} ms`,
    ok: value <= TURN_CPU_MS,
  };
}

async function memory(): Promise<BenchRow[]> {
  const model = await startFakeModel({ script: [] });
  const { worker } = sceneWorker('', {}, workerFile());
  await worker.ready;
  const prepared = worker.whenPrepared();
  worker.send({
    type: 'prepare',
    model: { ...MODEL, dialect: 'openai', model: 'fake', url: model.openaiUrl },
  });
  await prepared;
  const rollup = readFileSync(`/proc/${worker.pid}/smaps_rollup`, 'latin1');
  const megabytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1024;
  worker.end('cancel', { now: true });
  await worker.ended;
  await model.close();
  const dirty = megabytes('Private_Dirty');
  return [
    {
      name: 'spawn: private memory of a prepared spare',
      unit: 'MB',
      value: dirty,
      bound: `<= ${SPARE_MB} MB`,
      ok: dirty <= SPARE_MB,
    },
    {
      name: 'spawn: its clean pages of files that nobody else maps',
      unit: 'MB',
      value: megabytes('Private_Clean'),
    },
  ];
}
