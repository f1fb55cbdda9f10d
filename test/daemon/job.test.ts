// The main job, as a user runs it: the real command against scripted model servers.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { document, runJob, scratch, startJob } from '../fakes/job.js';
import type { FakeCall, FakeStep } from '../fakes/model-steps.js';
import { eventually } from '../fakes/processes.js';
import { cleanEnv, type Finished, runTurnd, startTurnd, TURND } from '../fakes/run-turnd.js';
import { endRequested, workerOf } from '../fakes/state.js';

const call = (name: string, args: FakeCall['arguments']): FakeCall => ({ name, arguments: args });
const exec = (command: string): FakeCall => call('exec_command', { command });

/** Ten rounds of two or three parallel calls, then an answer. */
function tenRounds(): FakeStep[] {
  const rounds = Array.from({ length: 10 }, (_, round) => ({
    text: round === 0 ? 'Let me look.' : '',
    calls: [
      exec(`echo round ${round}`),
      call('list_dir', { path: '.' }),
      ...(round % 2 === 0
        ? [call('write_file', { path: `out-${round}.txt`, content: `round ${round}\n` })]
        : []),
    ],
    usage: { input: 100, output: 10 },
  }));
  return [...rounds, { text: 'All ten rounds are done.', usage: { input: 200, output: 7, cached: 50 } }];
}

for (const dialect of ['openai', 'anthropic'] as const) {
  t.test(`a job of ten tool rounds with parallel calls answers on stdout alone (${dialect})`, async (t) => {
    const cwd = scratch(t);
    const job = await runJob(t, tenRounds(), { dialect, cwd });
    t.equal(job.code, 0, job.stderr);
    t.equal(job.stdout, 'All ten rounds are done.\n');
    t.equal(readFileSync(join(cwd, 'out-8.txt'), 'utf8'), 'round 8\n');
    job.model.assertDone();
  });
  t.test(`--output json is one document (${dialect})`, async (t) => {
    const job = await runJob(t, tenRounds(), { dialect, args: ['--output', 'json'] });
    t.equal(job.stdout.trim().split('\n').length, 1);
    const result = document(job);
    t.match(result, {
      status: 'completed',
      reply: 'All ten rounds are done.',
      usage: { input_tokens: 1_200, output_tokens: 107, cached_tokens: 50 },
      rounds: 11,
      tool_calls: 25,
      refused_calls: [],
      thread_id: 'root',
      state_dir: job.stateDir,
    });
    t.match(result.turn_id, /^turn_/);
    t.type(result.duration_ms, 'number');
  });
}

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

t.test('stdout', async (t) => {
  t.test('gets a long answer whole, even into a slow reader', async (t) => {
    const text = Array.from({ length: 30_000 }, (_, line) => String(line).padStart(9))
      .join(' ')
      .slice(0, 300_000);
    const job = await startJob(t, [{ text }]);
    job.child.stdout?.pause();
    await job.model.waitForRequest(1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    job.child.stdout?.resume();
    const finished = await job.finished;
    t.equal(finished.stdout, `${text}\n`);
    t.equal(finished.code, 0);
  });
  t.test('may be closed early without harm to the exit code', async (t) => {
    const model = await startJob(t, [
      { text: 'unused' },
      { text: Array.from({ length: 50_000 }, (_, line) => `line ${line}`).join('\n') },
    ]);
    await model.finished;
    const shell = spawn(
      'bash',
      [
        '-c',
        `set -o pipefail; "$0" "$1" --prompt x --endpoint "$2" --model m --state-dir "$3" | head -1; exit "\${PIPESTATUS[0]}"`,
        process.execPath,
        TURND,
        model.model.url,
        join(scratch(t), 's'),
      ],
      { env: cleanEnv(scratch(t)), stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const code = await new Promise((resolve) => shell.on('close', resolve));
    t.equal(code, 0);
  });
  t.test('carries no terminal codes and no logs when piped', async (t) => {
    const job = await runJob(t, [{ calls: [exec('printf "\\033[31mred"')] }, { text: 'plain' }], {
      env: { TURND_OBSERVABILITY_LOG_LEVEL: 'debug' },
    });
    t.equal(job.stdout, 'plain\n');
    t.notMatch(job.stderr, '\u001b', 'progress is silent when piped');
    const logs = job.stderr.split('\n').filter((line) => line.startsWith('{'));
    t.ok(logs.length > 0, 'logs are JSON lines on stderr');
    for (const line of logs) t.type(JSON.parse(line).event, 'string');
  });
});

t.test('stream-json is one protocol notification a line and the result last', async (t) => {
  const job = await runJob(t, [{ text: 'Looking.', calls: [exec('echo hi')] }, { text: 'Done.' }], {
    args: ['--output', 'stream-json'],
  });
  const lines = job.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match(lines.at(-1), { status: 'completed', reply: 'Done.' });
  const notifications = lines.slice(0, -1);
  for (const line of notifications)
    t.match(line, { jsonrpc: '2.0', method: String, params: { thread_id: 'root' } });
  t.equal(notifications[0].method, 'turn/started');
  t.equal(notifications.at(-1).method, 'turn/completed');
  const completed = notifications.filter(({ method }) => method === 'item/completed');
  t.same(
    completed.map(({ params }) => params.item.type),
    ['userMessage', 'agentMessage', 'commandExecution', 'agentMessage'],
  );
  for (const { params } of completed)
    t.ok(
      notifications.some(
        ({ method, params: other }) => method === 'item/started' && other.item.id === params.item.id,
      ),
      `${params.item.type} was started before it was completed`,
    );
});

t.test('the prompt', async (t) => {
  t.test('comes from stdin only when asked for', async (t) => {
    const asked = await runJob(t, [{ match: 'from the pipe', text: 'got it' }], {
      prompt: '-',
      stdin: 'from the pipe',
    });
    t.equal(asked.stdout, 'got it\n');
    const open = await runJob(t, [{ text: 'no waiting' }], { stdin: 'open' });
    t.equal(open.stdout, 'no waiting\n', 'an open, silent stdin is not read');
  });
  t.test('may be long and in any script, and never shows in argv of another process', async (t) => {
    const prompt = `${'長い文章。'.repeat(2_000)} canary-prompt-text`;
    const job = await startJob(t, [{ hang: 'no_answer' }], { prompt: '-', stdin: prompt });
    const request = await job.model.waitForRequest(1);
    t.ok(request.bodyText.includes('canary-prompt-text'));
    const { processesWith } = await import('../fakes/processes.js');
    t.same(processesWith('canary-prompt-text'), []);
    job.child.kill('SIGKILL');
    await job.finished;
  });
});

t.test('a bare job keeps its state below the state home and says where', async (t) => {
  const home = scratch(t);
  const jobs = await Promise.all(
    [1, 2].map(() => runTurnd(['--prompt', 'help'], { env: { XDG_STATE_HOME: home } })),
  );
  const dirs = jobs.map((job) => job.stderr.match(/state in (\S+)/)?.[1] ?? '');
  for (const dir of dirs) t.ok(dir.startsWith(join(home, 'turnd')) && existsSync(dir), dir);
  t.not(dirs[0], dirs[1], 'two jobs never share one');
});

t.test('with no model configured', async (t) => {
  t.test('the built-in offline model answers, and says so on stderr in one line', async (t) => {
    const cwd = scratch(t);
    writeFileSync(join(cwd, 'README.md'), '# Anvil\n\nAnvil is a forge for horseshoes.\n');
    mkdirSync(join(cwd, 'src'));
    writeFileSync(join(cwd, 'src/main.py'), 'print("hi")\n');
    const job = await runTurnd(['--prompt', 'Summarise this folder'], { cwd });
    t.equal(job.code, 0, job.stderr);
    t.match(job.stdout, /forge for horseshoes/);
    t.match(job.stdout, /Python/);
    t.match(job.stderr, /^turnd: no model is configured.*OPENAI_API_KEY.*$/m);
  });
  t.test('a key in the environment chooses its provider', async (t) => {
    const { model } = await startJob(
      t,
      Array.from({ length: 4 }, () => ({ text: 'from the provider' })),
    );
    const openai = await runTurnd(['--prompt', 'x'], {
      env: { OPENAI_API_KEY: 'canary-env-key', OPENAI_BASE_URL: model.url },
    });
    t.equal(openai.stdout, 'from the provider\n', openai.stderr);
    const anthropic = await runTurnd(['--prompt', 'x'], {
      env: { ANTHROPIC_API_KEY: 'canary-env-key', ANTHROPIC_BASE_URL: model.url },
    });
    t.equal(anthropic.stdout, 'from the provider\n', anthropic.stderr);
    t.equal(model.requests.at(-1)?.headers['x-api-key'], 'canary-env-key');
  });
});

t.test('help, version and the prompt template are printed with code 0', async (t) => {
  for (const [args, pattern] of [
    [['--help'], /Exit codes:/],
    [['--version'], /^\d+\.\d+\.\d+\n$/],
    [['--context-template'], /\{\{#if instruction\}\}/],
    [['config', 'schema'], /"\$schema"|"properties"/],
  ] as const) {
    const run = await runTurnd(args);
    t.equal(run.code, 0, args.join(' '));
    t.match(run.stdout, pattern);
  }
});

t.test('a killed job directory is free again at once', async (t) => {
  const job = await startJob(t, [{ hang: 'no_answer' }, { text: 'second run' }]);
  await job.model.waitForRequest(1);
  job.child.kill('SIGKILL');
  await job.finished;
  const again = await runTurnd(
    ['--prompt', 'x', '--endpoint', job.model.url, '--model', 'm', '--state-dir', job.stateDir],
    {},
  );
  t.equal(again.stdout, 'second run\n', again.stderr);
  t.ok(await eventually(() => true, 1));
});

t.test('two verbs read a state directory while a job holds it', async (t) => {
  const job = await startJob(t, [{ calls: [exec('echo seen')] }, { hang: 'no_answer' }]);
  await job.model.waitForRequest(2);
  const shown = await runTurnd(['show', 'root', '--state-dir', job.stateDir]);
  t.equal(shown.code, 0, shown.stderr);
  t.match(shown.stdout, /Do it\./);
  const turnId = shown.stdout.match(/turn_[0-9a-z]+/)?.[0] ?? '';
  const items = startTurnd(['items', turnId, '--state-dir', job.stateDir]);
  const printed = await items.finished;
  t.equal(printed.code, 0, printed.stderr);
  t.match(printed.stdout, /exec_command/);
  job.child.kill('SIGKILL');
  await job.finished;
});
