// The main job, as a user runs it: the real command against scripted model servers.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DIALECTS } from '../../shared/ipc/turn-snapshot.js';
import { document, runJob, scratch, startJob } from '../fakes/job.js';
import type { FakeCall, FakeStep } from '../fakes/model-steps.js';
import { eventually } from '../fakes/processes.js';
import { cleanEnv, runTurnd, startTurnd, TURND } from '../fakes/run-turnd.js';

const call = (name: string, args: FakeCall['arguments']): FakeCall => ({ name, arguments: args });
const exec = (command: string): FakeCall => call('exec_command', { command });

/** Ten rounds of two or three parallel calls, then an answer. */
function tenRounds(): FakeStep[] {
  const rounds = Array.from({ length: 10 }, (_, round) => ({
    text: round === 0 ? 'Let me look.' : '',
    ...(round === 0 ? { reasoning: 'First the folder.' } : {}),
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

for (const dialect of DIALECTS.filter((name) => name !== 'builtin')) {
  t.test(`a job of ten tool rounds with parallel calls answers on stdout alone (${dialect})`, async (t) => {
    const cwd = scratch(t);
    const job = await runJob(t, tenRounds(), { dialect, cwd });
    t.equal(job.code, 0, job.stderr);
    t.equal(job.stdout, 'All ten rounds are done.\n');
    t.equal(readFileSync(join(cwd, 'out-8.txt'), 'utf8'), 'round 8\n');
    for (const request of job.model.requests.slice(1))
      t.match(request.bodyText, 'First the folder.', 'reasoning goes back to its model within the turn');
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
