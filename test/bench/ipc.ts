// The private wire between two real processes: small frames as fast as they go, decoded, checked and delivered; and
// what 5 MB frames of one worker do to the small frames of another.
import { systemClock } from '../../shared/clock.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import { sceneWorker } from '../fakes/scene-worker.js';
import { turnFrame } from '../fakes/turn-frame.js';
import type { BenchRow } from './bench-row.js';
import { quantile } from './quantile.js';

const FRAMES = 100_000;
const BULK_FRAMES = 20;
/** Small frames measured before the large ones start. */
const TICKS = 200;
const FRAMES_PER_SECOND = 50_000;
/** What a 5 MB frame may hold up the others: less than two pictures of a display. */
const STALL_MS = 30;

export async function ipcBench(): Promise<BenchRow[]> {
  return [await flood(), await stall('text'), await stall('values')];
}

async function flood(): Promise<BenchRow> {
  const { worker } = sceneWorker('flood');
  await worker.ready;
  let frames = 0;
  let firstMs = 0;
  let lastMs = 0;
  worker.onFrame(() => {
    if (frames === 0) firstMs = systemClock.monotonic();
    frames += 1;
    lastMs = systemClock.monotonic();
  });
  worker.send(turnFrame({ system_prompt: String(FRAMES) }));
  await worker.ended;
  const perSecond = (frames / (lastMs - firstMs)) * 1_000;
  return {
    name: 'ipc: frames of 1 KB from a worker, checked',
    unit: 'frames/s',
    value: perSecond,
    bound: `>= ${FRAMES_PER_SECOND}`,
    ok: frames === FRAMES + 1 && perSecond >= FRAMES_PER_SECOND,
  };
}

/** `values` is the worst that 5 MB can hold: it is decoded in one go, and nothing bounds that but the cap of a frame. */
async function stall(content: 'text' | 'values'): Promise<BenchRow> {
  const ticker = sceneWorker('ticker');
  const bulk = sceneWorker(`bulk-${content}`);
  await Promise.all([ticker.worker.ready, bulk.worker.ready]);
  const delays: number[] = [];
  const enough = new Promise<void>((resolve) => {
    ticker.worker.onFrame((frame) => {
      delays.push(delayOf(frame));
      if (delays.length === TICKS) resolve();
    });
  });
  ticker.worker.send(turnFrame());
  await enough;
  const alone = delays.splice(0);
  bulk.worker.send(turnFrame({ system_prompt: String(BULK_FRAMES) }));
  await bulk.worker.ended;
  const beside = delays.splice(0);
  ticker.worker.end('cancel', { now: true });
  await ticker.worker.ended;
  const worst = quantile(beside, 0.99);
  return {
    name: `ipc: delay of a small frame beside another worker's 5 MB frames of ${content}`,
    unit: 'ms',
    value: worst,
    baseline: quantile(alone, 0.99),
    p50: quantile(beside, 0.5),
    p99: worst,
    ...(content === 'text' ? { bound: `p99 <= ${STALL_MS} ms`, ok: worst <= STALL_MS } : {}),
  };
}

function delayOf(frame: ToSupervisor): number {
  const sent =
    frame.type === 'progress' && frame.progress.event === 'delta' ? Number(frame.progress.text) : 0;
  return performance.timeOrigin + performance.now() - sent;
}
