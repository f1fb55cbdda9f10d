import { spawn } from 'node:child_process';
import t from 'tap';
import { systemClock } from '../../shared/clock.js';
import { containmentLayers } from '../../supervisor/processes/containment.js';
import { endOrphans } from '../../supervisor/processes/orphans.js';
import { isLive, readStat } from '../../supervisor/processes/proc-files.js';
import { findProcesses } from '../../supervisor/processes/sweep.js';
import { eventually, processesWith } from '../fakes/processes.js';
import { isNote, type SceneWorker, sceneWorker } from '../fakes/scene-worker.js';
import { turnFrame } from '../fakes/turn-frame.js';

/** A sleeping time that only this test's processes have. */
let tokens = 0;
function token(): string {
  tokens += 1;
  return `${86_000 + process.pid}.${tokens}`;
}

const HAS_CGROUP = containmentLayers().includes('cgroup');
/** What cannot be found by group, parent or marker needs a control group. */
const SCENE = HAS_CGROUP ? 'tree-all' : 'tree';

async function grown(scene: string): Promise<SceneWorker & { word: string }> {
  const word = token();
  const scened = sceneWorker(scene);
  await scened.worker.ready;
  scened.worker.send(turnFrame({ system_prompt: word, process_marker: scened.worker.marker }));
  await scened.seen(isNote('grown'));
  return { ...scened, word };
}

/** False for a zombie too: where nothing reaps orphans, that is all that is left of one. */
function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== null && isLive(stat);
}

function left(word: string): string[] {
  return processesWith(word).map(({ command }) => command);
}

t.test('the ladder ends a worker that ignores it, with everything it started', async (t) => {
  const { worker, word } = await grown(SCENE);
  t.ok(left(word).length >= 6, 'the tree has grown');
  const startedMs = systemClock.monotonic();
  worker.end('cancel');
  worker.end('operator');
  const exit = await worker.ended;
  t.equal(exit.signal, 'SIGKILL');
  t.ok(exit.swept >= 3, `${exit.swept} had left the group`);
  t.same(left(word), [], 'nothing is left when the end is told');
  t.ok(systemClock.monotonic() - startedMs >= 590, 'both graces were granted');
});

t.test('a polite worker ends by the cancel frame, and its leftovers end all the same', async (t) => {
  const { worker, word } = await grown('tree-leave');
  const exit = await worker.ended;
  t.match(exit, { code: 0, signal: null, fault: null });
  t.same(left(word), []);
  const echo = sceneWorker('cancel');
  await echo.worker.ready;
  echo.worker.send(turnFrame());
  echo.worker.end('drain');
  t.match(await echo.worker.ended, { code: 0 });
  t.match(echo.frames, [{ progress: { text: 'cancelled: drain' } }, { type: 'turn_done' }]);
});

t.test('SIGTERM reaches the whole group before SIGKILL does', async (t) => {
  const { worker, word } = await grown('tree-polite');
  worker.end('cancel');
  t.equal((await worker.ended).signal, 'SIGTERM');
  t.same(left(word), []);
});

t.test('a stopped worker is ended all the same, at once when asked so', async (t) => {
  const { worker, word } = await grown(SCENE);
  process.kill(-worker.pid, 'SIGSTOP');
  worker.end('cancel');
  worker.end('cancel', { now: true });
  const startedMs = systemClock.monotonic();
  t.equal((await worker.ended).signal, 'SIGKILL');
  t.same(left(word), []);
  t.ok(systemClock.monotonic() - startedMs < 1_000);
});

t.test('when someone kills the group, what had left it is found and ended', async (t) => {
  const { worker, word } = await grown(SCENE);
  process.kill(-worker.pid, 'SIGKILL');
  const exit = await worker.ended;
  t.match(exit, { code: null, signal: 'SIGKILL', fault: null });
  t.ok(exit.swept >= 3);
  t.same(left(word), []);
});

t.test('without a control group, session, parents and the marker find what left the group', async (t) => {
  const { worker, word } = await grown('tree');
  const { pid, pidStart, marker } = worker;
  const quarry = { pid, pidStart, marker, cgroup: null, known: new Map() };
  // Looked for twice: between two looks a shell of the tree may only just start its sleep.
  const missed = (): string[] => {
    const found = new Set(findProcesses(quarry).map((stat) => stat.pid));
    return processesWith(word)
      .filter((process) => !found.has(process.pid))
      .map(({ command }) => command);
  };
  t.ok(await eventually(() => missed().length === 0, 5_000), `missed: ${missed().join(', ')}`);
  // The group dies first, so that no parent is left to go by.
  process.kill(-pid, 'SIGKILL');
  await worker.ended;
  t.same(findProcesses(quarry), [], 'and later there is none');
});

t.test('descendants that nothing marks are remembered from when their parents lived', async (t) => {
  const { worker, word } = await grown('tree');
  const { pid, pidStart } = worker;
  const unmarked = {
    pid,
    pidStart,
    marker: 'worker_of_nobody',
    cgroup: null,
    known: new Map<number, string>(),
  };
  const before = findProcesses(unmarked);
  const known = new Map(before.map((stat) => [stat.pid, stat.start]));
  process.kill(pid, 'SIGSTOP');
  t.ok(before.length >= 6);
  const wrong = new Map([...known].map(([each]) => [each, '1']));
  const remembered = findProcesses({ ...unmarked, pid: 0, pidStart, known }).map((stat) => stat.pid);
  t.ok(remembered.length >= before.length);
  t.same(findProcesses({ ...unmarked, pid: 0, pidStart, known: wrong }), [], 'but not by their pids alone');
  worker.end('cancel', { now: true });
  await worker.ended;
  t.same(left(word), []);
});

t.test('a killed supervisor takes its workers and their trees along, stopped ones too', async (t) => {
  for (const stopped of [false, true]) {
    const word = token();
    const module = new URL('../fakes/doomed-supervisor.js', import.meta.url).href;
    const args = ['-e', `import('${module}')`, '--', `${SCENE}-orphan`, word];
    const supervisor = spawn(process.execPath, [...process.execArgv, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = await new Promise<number>((resolve) =>
      supervisor.stdout.on('data', (text: Buffer) => resolve(Number(/grown (\d+)/.exec(String(text))?.[1]))),
    );
    t.ok(left(word).length >= 6);
    if (stopped) process.kill(-pid, 'SIGSTOP');
    supervisor.kill('SIGKILL');
    t.ok(
      await eventually(() => left(word).length === 0, 10_000),
      `nothing is left: ${left(word).join(', ')}`,
    );
    t.ok(await eventually(() => !isAlive(pid), 10_000), 'the worker is gone too');
  }
});

t.test(
  'what an earlier supervisor left is ended by pid, start and marker; a reused pid is left alone',
  async (t) => {
    const { worker, word } = await grown(SCENE);
    const record = { pid: worker.pid, pid_start: worker.pidStart, marker: worker.marker };
    const other = spawn('sleep', [token()], { stdio: 'ignore' });
    const reused = { pid: other.pid ?? 0, pid_start: '1', marker: 'worker_of_another_time' };
    const ended = await endOrphans([record, reused], systemClock);
    t.ok(ended >= 7, `${ended} ended`);
    await worker.ended;
    t.same(left(word), []);
    t.equal(other.exitCode, null);
    t.equal(other.kill(0), true, 'the stranger still runs');
    other.kill();
    t.equal(await endOrphans([record], systemClock), 0, 'and a second time there is nothing to do');
  },
);

t.test('the layers that hold are named, strongest first', async (t) => {
  const layers = containmentLayers();
  t.ok(layers.includes('process_group') && layers.includes('environment_marker'));
  t.equal(layers.at(-1), 'environment_marker');
  t.same(layers, [...new Set(layers)]);
});
