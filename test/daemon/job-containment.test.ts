// Whatever a command does to stay alive, nothing of a turn is left when the turn is over, however it ended.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { document, type StartedJob, scratch, startJob } from '../fakes/job.js';
import { eventually, processesWith } from '../fakes/processes.js';
import { runTurnd } from '../fakes/run-turnd.js';
import { firstTurn, workerOf } from '../fakes/state.js';

/** Ways to outlive a kill; each leaves `alive` behind after three seconds if it is not ended. */
const ESCAPES: Readonly<Record<string, string>> = {
  'a background child': '(sleep 3; echo alive > alive) & sleep 60',
  nohup: 'nohup sh -c "sleep 3; echo alive > alive" >/dev/null 2>&1 & sleep 60',
  setsid: 'setsid sh -c "sleep 3; echo alive > alive" & sleep 60',
  'a double fork': '(setsid sh -c "(sleep 3; echo alive > alive) &" &) ; sleep 60',
  'a double fork with a bare environment':
    '(setsid env -i sh -c "(sleep 3; echo alive > alive) &" &) ; sleep 60',
  'ignored signals': "trap '' TERM INT HUP QUIT; sleep 3; echo alive > alive; sleep 60",
  'a stopped process': "sh -c 'kill -STOP $$; echo alive > alive' & sleep 60",
};

async function inTool(
  t: Test,
  command: string,
): Promise<{ job: StartedJob; cwd: string; turnId: string; pgid: number }> {
  const cwd = scratch(t, 'turnd-contain-');
  const job = await startJob(
    t,
    [{ calls: [{ name: 'exec_command', arguments: { command: `touch started; ${command}` } }] }],
    { cwd, args: ['--output', 'json'] },
  );
  await job.model.waitForRequest(1);
  t.ok(await eventually(() => existsSync(join(cwd, 'started')), 10_000), 'the command runs');
  const pgid = await workerOf(job.stateDir);
  return { job, cwd, turnId: firstTurn(job.stateDir)?.turn_id ?? '', pgid };
}

/** Processes that carry the job's state directory or work in its folder, apart from the job itself. */
const leftOf = (cwd: string) => processesWith(cwd).filter(({ command }) => !command.includes('turnd.cjs'));

async function nothingLeft(t: Test, cwd: string): Promise<void> {
  t.ok(await eventually(() => leftOf(cwd).length === 0, 2_000), `left: ${JSON.stringify(leftOf(cwd))}`);
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  t.notOk(existsSync(join(cwd, 'alive')), 'nobody lived on to write');
}

for (const [name, command] of Object.entries(ESCAPES)) {
  t.test(`kill -9 of the worker's group in mid-tool leaves nothing: ${name}`, async (t) => {
    const { job, cwd, pgid } = await inTool(t, command);
    const killedAt = process.hrtime.bigint();
    process.kill(-pgid, 'SIGKILL');
    const finished = await job.finished;
    const tookMs = Number(process.hrtime.bigint() - killedAt) / 1e6;
    t.equal(finished.code, 1, finished.stderr);
    t.match(document(finished), { status: 'failed', error: { code: 'worker_lost', message: /SIGKILL/ } });
    t.ok(tookMs < 1_000, `the job ended ${Math.round(tookMs)} ms after the kill`);
    await nothingLeft(t, cwd);
  });

  t.test(`kill -9 of the supervisor in mid-tool leaves nothing: ${name}`, async (t) => {
    const { job, cwd, turnId } = await inTool(t, command);
    job.child.kill('SIGKILL');
    await job.finished;
    await nothingLeft(t, cwd);
    const items = await runTurnd(['items', turnId, '--state-dir', job.stateDir]);
    t.equal(items.code, 0, items.stderr);
    t.match(items.stdout, /exec_command/, 'the turn is there as it was left');
    t.notMatch(items.stdout, /completed/);
  });
}

t.test('a cancel ends the whole tree within the grace times', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { job, cwd } = await inTool(t, `${ESCAPES['ignored signals']}`);
    job.child.kill(signal);
    const finished = await job.finished;
    t.match(document(finished), { status: 'cancelled' });
    await nothingLeft(t, cwd);
  }
});

t.test('a stopped worker is ended all the same', async (t) => {
  const { job, cwd, pgid } = await inTool(t, 'sleep 60');
  process.kill(-pgid, 'SIGSTOP');
  job.child.kill('SIGTERM');
  const finished = await job.finished;
  t.equal(finished.code, 143, finished.stderr);
  t.ok(await eventually(() => leftOf(cwd).length === 0, 2_000));
});

t.test('kill -9 of supervisor and worker together leaves nothing either', async (t) => {
  const { job, cwd, pgid } = await inTool(t, ESCAPES['a double fork with a bare environment'] ?? '');
  process.kill(job.child.pid ?? 0, 'SIGSTOP');
  process.kill(pgid, 'SIGKILL');
  job.child.kill('SIGKILL');
  await job.finished;
  await nothingLeft(t, cwd);
});

t.test('what a finished command left in the background does not outlive the turn', async (t) => {
  const cwd = scratch(t, 'turnd-contain-');
  const job = await startJob(
    t,
    [
      {
        calls: [
          {
            name: 'exec_command',
            arguments: { command: `${ESCAPES['setsid']?.replace('sleep 60', 'echo go')}` },
          },
        ],
      },
      { text: 'started it' },
    ],
    { cwd },
  );
  const finished = await job.finished;
  t.equal(finished.code, 0, finished.stderr);
  await nothingLeft(t, cwd);
});

t.test('the journal of a killed turn stays readable', async (t) => {
  const { job, pgid } = await inTool(t, 'sleep 60');
  process.kill(-pgid, 'SIGKILL');
  await job.finished;
  t.ok(readFileSync(join(job.stateDir, 'turnd.db')).length > 0);
});

t.test(
  'spilled output of a turn goes with it, but for what was kept, and a crash leaves it for the next start',
  async (t) => {
    const stateDir = join(scratch(t), 'state');
    const spool = join(stateDir, 'spool');
    const spooled = (): string[] =>
      existsSync(spool) ? readdirSync(spool, { recursive: true, encoding: 'utf8' }) : [];
    // Not the nameless pipe of the command, which is there for a moment only.
    const spills = (): string[] => spooled().filter((name) => name.endsWith('.out'));
    const exec = (command: string) => ({ name: 'exec_command', arguments: { command } });
    const killed = await startJob(t, [{ calls: [exec('seq 1 200000; sleep 60')] }], { stateDir });
    t.ok(await eventually(() => spills().length > 0, 10_000), 'the command spills');
    killed.child.kill('SIGKILL');
    await killed.finished;
    t.ok(spills().length > 0);
    const next = await startJob(t, [{ calls: [exec('seq 1 200000')] }, { text: 'done' }], { stateDir });
    t.equal((await next.finished).code, 0);
    t.same(spooled(), []);
    t.equal(readdirSync(join(stateDir, 'artifacts')).length, 1, 'the whole output was kept as an artifact');
  },
);
