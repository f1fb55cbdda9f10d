// From the dispatch of a turn to its request at the model server, with a spare that has prepared; and without one.

import { systemClock } from '../../shared/clock.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import { workerFile } from '../../supervisor/processes/worker-file.js';
import { type FakeModel, startFakeModel } from '../fakes/fake-model-server.js';
import { sceneWorker } from '../fakes/scene-worker.js';
import { MODEL, turnFrame } from '../fakes/turn-frame.js';
import type { BenchRow } from './bench-row.js';
import { quantile } from './quantile.js';

const RUNS = 60;
const P50_MS = 4;
const P99_MS = 12;

export async function warmBench(): Promise<BenchRow[]> {
  const plain = await withModel(false, (model) => measure(model, true));
  const cold = await withModel(false, (model) => measure(model, false));
  const secure = await withModel(true, (model) => measure(model, true));
  return [
    row('warm: dispatch to request, prepared spare', plain.delays, cold.delays),
    row('warm: dispatch to request over TLS, prepared spare', secure.delays),
    {
      name: 'warm: TLS handshakes per turn',
      unit: 'count',
      value: secure.handshakes / RUNS,
      bound: '<= 1',
      ok: secure.handshakes === RUNS,
    },
  ];
}

function row(name: string, delays: readonly number[], cold?: readonly number[]): BenchRow {
  const p50 = quantile(delays, 0.5);
  const p99 = quantile(delays, 0.99);
  return {
    name,
    unit: 'ms',
    value: p50,
    ...(cold === undefined ? {} : { baseline: quantile(cold, 0.5), ratio: p50 / quantile(cold, 0.5) }),
    p50,
    p99,
    bound: `p50 <= ${P50_MS}, p99 <= ${P99_MS} ms`,
    ok: p50 <= P50_MS && p99 <= P99_MS,
  };
}

async function withModel<T>(tls: boolean, run: (model: FakeModel) => Promise<T>): Promise<T> {
  const model = await startFakeModel({ script: [{ text: 'done', times: Number.POSITIVE_INFINITY }], tls });
  try {
    return await run(model);
  } finally {
    await model.close();
  }
}

async function measure(
  model: FakeModel,
  prepare: boolean,
): Promise<{ delays: number[]; handshakes: number }> {
  const settings: ModelSettings = { ...MODEL, dialect: 'openai', model: 'fake', url: model.openaiUrl };
  const ca = model.ca === undefined ? {} : { ca: model.ca };
  const delays: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const { worker } = sceneWorker('', {}, workerFile());
    await worker.ready;
    const prepared = prepare ? worker.whenPrepared() : null;
    if (prepare) worker.send({ type: 'prepare', model: settings, ...ca });
    await prepared;
    const frame = turnFrame({ model: settings });
    const sentMs = systemClock.monotonic();
    worker.send({ ...frame, credentials: { ...frame.credentials, ...ca } });
    const request = await model.waitForRequest(run + 1);
    delays.push(request.receivedMs - sentMs);
    await worker.ended;
  }
  return { delays, handshakes: model.counts.handshakes };
}
