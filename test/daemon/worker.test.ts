import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import t, { type Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import { readStat } from '../../supervisor/processes/proc-files.js';
import type { WarmPool, WorkerHandle } from '../../supervisor/processes/types.js';
import { makeWarmPool } from '../../supervisor/processes/warm-pool.js';
import { workerFile } from '../../supervisor/processes/worker-file.js';
import { type FakeModel, startFakeModel } from '../fakes/fake-model-server.js';
import { eventually, processesWith } from '../fakes/processes.js';
import { sceneWorker } from '../fakes/scene-worker.js';
import { MODEL, turnFrame } from '../fakes/turn-frame.js';

const OPTIONS = {
  clock: systemClock,
  cancelGraceMs: 2_000,
  killGraceMs: 500,
  progressMs: 60_000,
  pongMs: 5_000,
};

function pool(t: Test, spares: number, replaceUsed = true): WarmPool {
  const made = makeWarmPool({ ...OPTIONS, spares, replaceUsed });
  t.teardown(() => made.close());
  made.start();
  return made;
}

function settings(model: FakeModel): ModelSettings {
  return { ...MODEL, dialect: 'openai', model: 'fake', url: model.openaiUrl };
}

/** Collects what a worker sends, until it ends. */
async function play(worker: WorkerHandle, frame = turnFrame()): Promise<ToSupervisor[]> {
  const frames: ToSupervisor[] = [];
  worker.onFrame((sent) => frames.push(sent));
  worker.send(frame);
  await worker.ended;
  return frames;
}

t.test('the built worker starts from compiled code that this host accepts', async (t) => {
  const folder = dirname(workerFile());
  const body = readdirSync(folder).filter((name) => /^worker-[0-9a-f]{12}\.js$/.test(name));
  t.equal(body.length, 1);
  const file = join(folder, body[0] ?? '');
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    cachedData: readFileSync(file.replace(/\.js$/, '.cache')),
  });
  t.equal(script.cachedDataRejected, false);
});

t.test('a spare serves one turn, is replaced, and ends with the code of its outcome', async (t) => {
  const spares = pool(t, 1);
  const first = await spares.take();
  const frames = await play(first);
  t.match(frames.at(-1), { type: 'turn_done', outcome: { status: 'completed', rounds: 1 } });
  t.match(await first.ended, { code: 0, signal: null, fault: null, swept: 0 });
  const second = await spares.take();
  t.not(second.workerId, first.workerId);
  const limits = { ...turnFrame().snapshot.limits, rounds: 0 };
  const limited = await play(second, turnFrame({ limits }));
  t.match(limited.at(-1), { type: 'turn_done', outcome: { status: 'exhausted_steps' } });
  t.match(await second.ended, { code: 7 });
});

t.test('no spares: every take starts a worker, and nothing is left over', async (t) => {
  const none = pool(t, 0);
  const [left, right] = await Promise.all([none.take(), none.take()]);
  t.not(left.pid, right.pid);
  left.end('cancel');
  right.end('cancel');
  t.match(await Promise.all([left.ended, right.ended]), [{ code: 0 }, { code: 0 }]);
});

t.test('takes in a burst share what is starting, and each gets its own', async (t) => {
  const spares = pool(t, 2, false);
  const workers = await Promise.all([spares.take(), spares.take(), spares.take()]);
  t.equal(new Set(workers.map((worker) => worker.pid)).size, 3);
  for (const worker of workers) worker.end('cancel', { now: true });
  await Promise.all(workers.map((worker) => worker.ended));
});

t.test(
  'a spare prepares for its target: rehearsed without a request, connected before the turn',
  async (t) => {
    const model = await startFakeModel({ script: [{ text: 'hello back' }], tls: true });
    t.teardown(() => model.close());
    const spares = pool(t, 1, false);
    spares.target(settings(model), model.ca);
    t.ok(await eventually(() => model.counts.handshakes === 1, 10_000), 'one connection is opened');
    t.equal(model.requests.length, 0, 'and nothing is asked on it');
    const worker = await spares.take();
    t.ok(await eventually(() => worker.prepared, 10_000));
    const frame = turnFrame({ model: settings(model) });
    const credentials = { headers: {}, mask: [], ...(model.ca === undefined ? {} : { ca: model.ca }) };
    const frames = await play(worker, { ...frame, credentials });
    t.match(frames.at(-1), { outcome: { status: 'completed', reply: 'hello back' } });
    t.equal(model.counts.handshakes, 1, 'the turn used the connection that stood');
    model.assertDone();
  },
);

/** Workers of this process, by pid. */
function ownWorkers(): number[] {
  return processesWith(workerFile())
    .map(({ pid }) => pid)
    .filter((pid) => readStat(pid)?.ppid === process.pid);
}

t.test('a spare that dies idle is replaced', async (t) => {
  const spares = pool(t, 1, false);
  const [first] = ownWorkers();
  t.ok(first !== undefined && first > 1);
  process.kill(first ?? 0, 'SIGKILL');
  t.ok(await eventually(() => ownWorkers().some((pid) => pid !== first), 10_000));
  const worker = await spares.take();
  t.not(worker.pid, first);
  t.match((await play(worker)).at(-1), { type: 'turn_done' });
});

t.test('a spare that no longer answers is replaced before anyone gets it', async (t) => {
  const model = await startFakeModel({ script: [] });
  t.teardown(() => model.close());
  const spares = makeWarmPool({ ...OPTIONS, spares: 1, replaceUsed: false, pongMs: 200 });
  t.teardown(() => spares.close());
  spares.start();
  const [first] = ownWorkers();
  spares.target(settings(model), undefined);
  await eventually(() => model.counts.connections > 0, 10_000);
  process.kill(first ?? 0, 'SIGSTOP');
  spares.target({ ...settings(model), model: 'other' }, undefined);
  t.ok(await eventually(() => ownWorkers().length === 1 && ownWorkers()[0] !== first, 15_000));
});

t.test('a cancel reaches a turn that waits for its model, and is told with its reason', async (t) => {
  const model = await startFakeModel({ script: [{ hang: 'no_answer' }], strict: false });
  t.teardown(() => model.close());
  const worker = await pool(t, 1, false).take();
  const frames: ToSupervisor[] = [];
  worker.onFrame((frame) => frames.push(frame));
  worker.send(turnFrame({ model: settings(model) }));
  await model.waitForRequest(1);
  worker.end('cancel');
  t.match(await worker.ended, { code: 1, signal: null });
  t.match(frames.at(-1), { outcome: { status: 'cancelled', error: { code: 'cancelled' } } });
});

t.test('an idle worker leaves when told to, and at once when its supervisor is gone', async (t) => {
  const told = sceneWorker('', {}, workerFile()).worker;
  await told.ready;
  told.end('drain');
  t.match(await told.ended, { code: 0, signal: null });
  const terminated = sceneWorker('', {}, workerFile()).worker;
  await terminated.ready;
  process.kill(terminated.pid, 'SIGTERM');
  t.match(await terminated.ended, { code: 0, signal: null });
});

t.test('a second turn is refused as a broken wire', async (t) => {
  const model = await startFakeModel({ script: [{ hang: 'no_answer' }], strict: false });
  t.teardown(() => model.close());
  const worker = await pool(t, 1, false).take();
  const frames: ToSupervisor[] = [];
  worker.onFrame((frame) => frames.push(frame));
  worker.send(turnFrame({ model: settings(model) }));
  await model.waitForRequest(1);
  worker.send(turnFrame());
  t.match(await worker.ended, { code: 2 });
  t.match(frames.at(-1), { type: 'failed', code: 'protocol_violation' });
});
