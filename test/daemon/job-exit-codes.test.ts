// Every exit code of a job, produced by a real run.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { connect } from '../../supervisor/store/database.js';
import { document, runJob, scratch, startJob } from '../fakes/job.js';
import type { FakeCall } from '../fakes/model-steps.js';
import { eventually } from '../fakes/processes.js';
import { type Finished, runTurnd, startTurnd } from '../fakes/run-turnd.js';
import { endRequested, workerOf } from '../fakes/state.js';

const call = (name: string, args: FakeCall['arguments']): FakeCall => ({ name, arguments: args });
const exec = (command: string): FakeCall => call('exec_command', { command });

t.test('exit codes', async (t) => {
  t.jobs = 2;
  const status = (job: Finished): string => document(job).status;
  const json = ['--output', 'json'];

  t.test('0 when the turn is completed', async (t) => {
    t.equal((await runJob(t, [{ text: 'Yes.' }])).code, 0);
  });
  t.test('1 when the turn failed, with the document on stdout all the same', async (t) => {
    const job = await runJob(t, [{ text: '' }, { text: ' \n' }], { args: json });
    t.equal(job.code, 1);
    t.match(document(job), { status: 'failed', error: { code: 'empty_reply' } });
    const wrong = Array.from({ length: 5 }, (_, n) => ({ calls: [call('exec_command', { command: n })] }));
    const misled = await runJob(t, wrong, { args: json });
    t.equal(misled.code, 1);
    t.match(document(misled), { error: { code: 'invalid_tool_calls' }, rounds: 5 });
  });
  t.test('2 for a bad flag, a bad configuration and an empty prompt', async (t) => {
    const home = scratch(t);
    writeFileSync(join(home, 'bad.yaml'), 'agent:\n  nmae: x\nlimits:\n  run:\n    steps: none\n');
    t.equal((await runTurnd(['--prompt', 'x', '--stepps', '3'])).code, 2);
    t.equal((await runTurnd(['--prompt', 'x', '--output', 'xml'])).code, 2);
    t.equal((await runTurnd(['--prompt', ''])).code, 2);
    t.equal((await runTurnd(['--prompt', '-'], { stdin: '' })).code, 2);
    t.equal((await runTurnd(['--prompt', 'x', '--cwd', join(home, 'nowhere')])).code, 2);
    const bad = await runTurnd(['--prompt', 'x', '--config', join(home, 'bad.yaml')]);
    t.equal(bad.code, 2);
    const flag = await runTurnd(['--prompt', 'x', '--state-dir', home, '--steps', 'some']);
    t.equal(flag.code, 2);
    t.match(flag.stderr, /^--steps: limits\.run\.steps: expected a whole number/m, 'names the flag as typed');
    t.match(bad.stderr, /bad\.yaml:2.*nmae.*name/s, 'names line and nearest key');
    t.match(bad.stderr, /bad\.yaml:5.*steps/s, 'and every other problem too');
    t.equal(bad.stdout, '');
  });
  t.test('3 when the same call is repeated four times', async (t) => {
    const steps = Array.from({ length: 4 }, () => ({ calls: [exec('echo same')] }));
    const job = await runJob(t, steps, { args: json });
    t.equal(job.code, 3, job.stderr);
    t.equal(status(job), 'loop_detected');
  });
  t.test('4 when the endpoint cannot be reached or refuses', async (t) => {
    const refused = await runJob(
      t,
      [{ status: 401, body: { error: { message: 'invalid key canary-key-123' } } }],
      {
        args: json,
      },
    );
    t.equal(refused.code, 4);
    t.match(document(refused), { status: 'failed', error: { code: 'model_rejected' } });
    t.notMatch(refused.stdout + refused.stderr, 'canary-key-123', 'the raw provider body is not shown');
    const failing = await runJob(t, [{ status: 500, body: {}, times: Number.POSITIVE_INFINITY }], {
      args: json,
      env: { TURND_LIMITS_MODEL_RETRIES: '1', TURND_OBSERVABILITY_LOG_LEVEL: 'debug' },
    });
    t.equal(failing.code, 4);
    t.match(document(failing).error, { code: 'model_unreachable', message: /500.*tried 2 times/ });
    t.match(failing.stderr, /"event":"model\.retry"/, 'logs and warnings stay out of stdout');
    const dead = await runTurnd(
      [
        '--prompt',
        'x',
        '--endpoint',
        'http://127.0.0.1:9',
        '--model',
        'm',
        '--state-dir',
        join(scratch(t), 's'),
      ],
      { env: { TURND_LIMITS_MODEL_RETRIES: '0' } },
    );
    t.equal(dead.code, 4, dead.stderr);
  });
  t.test('5 when the model refuses through finish', async (t) => {
    const job = await runJob(t, [{ calls: [call('finish', { status: 'refused', reason: 'not allowed' })] }], {
      args: json,
    });
    t.equal(job.code, 5, job.stderr);
    t.equal(status(job), 'refused');
  });
  t.test('7 when the steps or the tokens are used up', async (t) => {
    const steps = Array.from({ length: 3 }, (_, n) => ({
      calls: [exec(`echo ${n}`)],
      usage: { input: 900, output: 100 },
    }));
    const bySteps = await runJob(t, steps.slice(0, 2), { args: [...json, '--steps', '2'] });
    t.equal(bySteps.code, 7);
    t.equal(status(bySteps), 'exhausted_steps');
    const byTokens = await runJob(t, steps.slice(0, 2), { args: [...json, '--tokens', '1500'] });
    t.equal(byTokens.code, 7);
    t.equal(status(byTokens), 'exhausted_tokens');
  });
  t.test('8 when a call was refused because nobody could answer and the job is not done', async (t) => {
    const cwd = scratch(t);
    const job = await runJob(
      t,
      [
        { calls: [call('write_file', { path: 'x.txt', content: 'x' })] },
        { calls: [call('finish', { status: 'failed', reason: 'I may not write' })] },
      ],
      { cwd, args: [...json, '--permission-mode', 'supervised'] },
    );
    t.equal(job.code, 8, job.stderr);
    t.match(document(job).refused_calls, [{ tool: 'write_file' }]);
    t.notOk(existsSync(join(cwd, 'x.txt')));
  });
  t.test('9 when the state directory is in use, with its own text', async (t) => {
    const first = await startJob(t, [{ hang: 'no_answer' }]);
    await first.model.waitForRequest(1);
    const second = await runTurnd(['--prompt', 'x', '--state-dir', first.stateDir]);
    t.equal(second.code, 9);
    t.match(second.stderr, /in use/);
    first.child.kill('SIGTERM');
    await first.finished;
  });
  t.test('10 when the state was written by a newer version, which is left as it is', async (t) => {
    const before = await runJob(t, [{ text: 'ok' }]);
    const file = join(before.stateDir, 'turnd.db');
    const db = connect(file);
    db.pragma('user_version = 9999');
    db.close();
    const bytes = readFileSync(file);
    const job = await runTurnd(['--prompt', 'x', '--state-dir', before.stateDir]);
    t.equal(job.code, 10, job.stderr);
    t.match(job.stderr, /newer version/);
    t.ok(readFileSync(file).equals(bytes));
  });
  t.test('10 when the state is damaged', async (t) => {
    const before = await runJob(t, [{ text: 'ok' }]);
    const file = join(before.stateDir, 'turnd.db');
    writeFileSync(file, Buffer.concat([Buffer.alloc(100, 7), readFileSync(file).subarray(100)]));
    const job = await runTurnd(['--prompt', 'x', '--state-dir', before.stateDir]);
    t.equal(job.code, 10, job.stderr);
    t.match(job.stderr, /damaged/);
  });
  t.test('124 at the deadline, which bounds a model call and a tool in flight', async (t) => {
    const args = [...json, '--deadline', '1s'];
    const inCall = await runJob(t, [{ hang: 'no_answer' }], { args });
    t.equal(inCall.code, 124, inCall.stderr);
    const inTool = await runJob(t, [{ calls: [exec('sleep 60')] }], { args });
    t.equal(inTool.code, 124, inTool.stderr);
    t.equal(status(inTool), 'deadline');
  });
  t.test('130 by SIGINT and 143 by SIGTERM, cancelled cleanly', async (t) => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const job = await startJob(t, [{ calls: [exec('sleep 60')] }], { args: json });
      await job.model.waitForRequest(1);
      job.child.kill(signal);
      const finished = await job.finished;
      t.equal(finished.code, code, finished.stderr);
      t.equal(status(finished), 'cancelled');
    }
  });
});

t.test('with JSON output a job that never had a turn prints its one document all the same', async (t) => {
  const home = scratch(t);
  const file = join(home, 'file');
  writeFileSync(file, '');
  const busy = await startJob(t, [{ hang: 'no_answer' }]);
  await busy.model.waitForRequest(1);
  const cases: [code: number, error: string, args: string[], env?: Record<string, string>][] = [
    [2, 'usage', ['--stepps', '3']],
    [2, 'usage', ['--cwd', join(home, 'nowhere')]],
    [2, 'invalid_config', ['--steps', '0']],
    [2, 'invalid_config', ['--tokens', '0']],
    [2, 'invalid_config', [], { TURND_LIMITS_RUN_STEPS: 'none' }],
    [9, 'state_in_use', ['--state-dir', busy.stateDir]],
    [10, 'state_damaged', ['--state-dir', file]],
  ];
  for (const format of ['json', 'stream-json'])
    for (const [code, error, args, env = {}] of cases) {
      const job = await runTurnd(['--prompt', 'x', '--output', format, ...args], { env });
      t.equal(job.code, code, args.join(' '));
      t.match(document(job), { status: 'failed', error: { code: error, message: /./ }, rounds: 0 });
      t.not(job.stderr, '', 'people are told on stderr as ever');
    }
  busy.child.kill('SIGKILL');
  await busy.finished;
});

t.test('a signal ends a job also before it has a turn, with the same code', async (t) => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
  ] as const) {
    // It waits for its prompt.
    const job = startTurnd(['--prompt', '-'], { stdin: 'open' });
    t.teardown(() => job.child.kill('SIGKILL'));
    t.ok(
      await eventually(() => catches(job.child.pid, 1), 5_000),
      'it watches for a hang-up, the last of the three',
    );
    job.child.kill(signal);
    t.match(await job.finished, { code, signal: null, stdout: '' });
  }
});

/** Whether a process has a handler for the signal of that number. */
function catches(pid: number | undefined, signal: number): boolean {
  const mask = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^SigCgt:\s*([0-9a-f]+)$/m)?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

t.test('a second signal ends a job at once, even when its worker answers nothing any more', async (t) => {
  const job = await startJob(t, [{ hang: 'no_answer' }], { env: { TURND_LIMITS_CANCEL_GRACE: '10m' } });
  await job.model.waitForRequest(1);
  const worker = await workerOf(job.stateDir);
  process.kill(worker, 'SIGSTOP');
  job.child.kill('SIGINT');
  t.ok(
    await eventually(() => endRequested(job.stateDir) === 'cancel', 5_000),
    'the first signal is written down',
  );
  job.child.kill('SIGINT');
  const finished = await job.finished;
  t.equal(finished.code, 130, finished.stderr);
});
