// Whatever a command starts, and however it hides, ends with the command, its limit, the turn and the worker.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { allLayers, describeLayer, heldLayers, runIn } from '../fakes/contained.js';
import { eventually, processesWith } from '../fakes/processes.js';
import { type ShellContext, testContext } from '../fakes/shell-context.js';

/** Each writes the canary if it lives long enough; its path is in each one's command line, whatever its environment. */
function hiders(canary: string, namespaced: boolean): string {
  const late = `sleep 60; echo alive >> ${canary}`;
  const lines = [
    `sh -c '${late}' &`,
    `setsid sh -c '${late}' &`,
    `nohup sh -c '${late}' >/dev/null 2>&1 &`,
    `( ( sh -c '${late}' & ) & )`,
    `sh -c 'trap "" TERM HUP INT; sleep 60; ${late}' &`,
    `( setsid sh -c 'trap "" TERM; exec 0<&- 1>&- 2>&-; ${late}' & )`,
  ];
  // Nothing but a namespace finds one that left its parents and its environment behind.
  if (namespaced) lines.push(`( setsid env -i /bin/sh -c '${late}' & )`);
  return lines.join('\n');
}

interface Scene {
  readonly context: ShellContext;
  readonly index: number;
  readonly canary: string;
  readonly script: string;
  readonly hidden: number;
}

function sceneFor(t: Test, index: number): Scene {
  const context = testContext(t);
  const canary = join(context.workspaceRoot, 'canary');
  const namespaced = allLayers(context.workspaceRoot)[index]?.name === 'pid_namespace';
  return { context, index, canary, script: hiders(canary, namespaced), hidden: namespaced ? 7 : 6 };
}

function hiding(scene: Scene): number {
  return processesWith(scene.canary).filter(({ command }) => /^\S*sh -c sleep|^\S*sh -c trap/.test(command))
    .length;
}

/** So that a test cannot pass because nothing was there yet. */
async function allHidden(t: Test, scene: Scene): Promise<void> {
  t.ok(
    await eventually(() => hiding(scene) >= scene.hidden, 10_000),
    `${scene.hidden} processes hide (${hiding(scene)})`,
  );
}

function nothingLeft(t: Test, scene: Scene): void {
  t.same(processesWith(scene.canary), [], 'no process is left');
  t.notOk(existsSync(scene.canary), 'no canary');
}

async function doomedWorker(scene: Scene): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../fakes/doomed-worker.js', import.meta.url));
  const command = `${scene.script}\nsleep 60; : ${scene.canary}`;
  const args = [scene.context.workspaceRoot, String(scene.index), command];
  const child = spawn(process.execPath, [...process.execArgv, program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return child;
}

/** The killed process itself carries the canary's path in its arguments; it is gone at once, its tree soon after. */
async function goneSoon(t: Test, scene: Scene): Promise<void> {
  t.ok(
    await eventually(() => processesWith(scene.canary).length === 0, 5_000),
    `gone: ${JSON.stringify(processesWith(scene.canary))}`,
  );
  t.notOk(existsSync(scene.canary), 'no canary');
}

const probe = testContext(t);
const held = await heldLayers(probe);

/** The others differ from these by a flag that changes nothing about how a tree ends. */
function worthTesting(index: number): boolean {
  const layer = allLayers(probe.workspaceRoot)[index];
  if (layer === undefined || layer.name === 'process_group') return layer !== undefined;
  const ownProc = layer.wrapper.includes('--mount-proc');
  return ownProc && (layer.wrapper.includes('--pdeathsig') || layer.wrapper.includes('--user'));
}

t.test('the layer without namespaces holds everywhere', async (t) => {
  const names = held.map((index) => allLayers(probe.workspaceRoot)[index]?.name);
  t.ok(names.includes('process_group'), names.join(', '));
});

for (const index of held.filter(worthTesting)) {
  const layer = allLayers(probe.workspaceRoot)[index];
  if (layer === undefined) continue;
  t.test(`in ${describeLayer(layer)}`, async (t) => {
    t.test('what a command leaves behind is named and ended', async (t) => {
      const scene = sceneFor(t, index);
      const go = join(scene.context.workspaceRoot, 'go');
      const wait = `while [ ! -e ${go} ]; do sleep 0.05; done; echo done`;
      const running = await runIn(index, `${scene.script}\n${wait}`, scene.context);
      await allHidden(t, scene);
      spawn('touch', [go]);
      const end = await running.ended;
      t.match(end, { cause: 'exit', exitCode: 0, left: 0 });
      t.ok(end.leftBehind.length >= scene.hidden, `${end.leftBehind.length} left behind`);
      t.equal(running.takeOutput().head.toString(), 'done\n');
      nothingLeft(t, scene);
    });

    t.test('a turn that ends takes the whole tree along, TERM-ignorers too', async (t) => {
      const scene = sceneFor(t, index);
      const running = await runIn(index, `${scene.script}\nsleep 60`, scene.context);
      await allHidden(t, scene);
      scene.context.abort('cancel');
      t.match(await running.ended, { cause: 'interrupted', left: 0 });
      nothingLeft(t, scene);
    });

    t.test('a command gets a moment to clean up after itself', async (t) => {
      const scene = sceneFor(t, index);
      const trap = 'trap "echo cleaned; exit 0" TERM; echo up; while :; do sleep 0.02; done';
      const running = await runIn(index, trap, scene.context);
      await eventually(() => running.totalBytes > 0, 5_000);
      running.stop('timeout');
      t.match(await running.ended, { cause: 'timeout', left: 0 });
      t.match(running.takeOutput().head.toString(), /cleaned/);
    });

    t.test('a killed worker takes the whole tree along', async (t) => {
      const scene = sceneFor(t, index);
      const worker = await doomedWorker(scene);
      await allHidden(t, scene);
      worker.kill('SIGKILL');
      await goneSoon(t, scene);
    });

    t.test('a killed group takes the whole tree along', async (t) => {
      const scene = sceneFor(t, index);
      const worker = await doomedWorker(scene);
      await allHidden(t, scene);
      process.kill(-(worker.pid ?? 0), 'SIGKILL');
      await goneSoon(t, scene);
    });

    t.test('a command that signals its own group reaches nobody else', async (t) => {
      const scene = sceneFor(t, index);
      const running = await runIn(index, 'trap "" TERM; kill 0; echo still here', scene.context);
      t.match(await running.ended, { cause: 'exit', exitCode: 0 });
      t.equal(running.takeOutput().head.toString(), 'still here\n');
    });
  });
}
