// The main job, as a user runs it: the real command against scripted model servers.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DIALECTS } from '../../shared/ipc/turn-snapshot.js';
import { document, inShell, runJob, scratch, startJob } from '../fakes/job.js';
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

t.test('a place or a machine that is in no state for a job is told in a sentence', async (t) => {
  const gone = inShell(t, 'folder=$(mktemp -d) && cd "$folder" && rmdir "$folder" && exec "$@"');
  t.equal(gone.status, 2);
  t.match(gone.stderr, /^turnd: the current folder does not exist any more/);
  for (const files of [18, 20, 22, 24]) {
    const few = inShell(t, `ulimit -n ${files} && exec "$@"`);
    t.ok([1, 10].includes(few.status ?? 0), `code ${few.status} with ${files} descriptors`);
    t.match(few.stderr, /^turnd: /, `${files} descriptors`);
    t.notMatch(few.stderr, /internal error|^ +at /m, `${files} descriptors`);
  }
});

t.test(
  'a disk that fills up in the middle fails the job in a sentence, and the next run goes on',
  async (t) => {
    const state = join(scratch(t), 'state');
    for (const kilobytes of [285, 310]) {
      const dir = `${state}-${kilobytes}`;
      const args = ['--state-dir', dir, '--output', 'json'];
      const full = inShell(t, `ulimit -f ${kilobytes} && exec "$@"`, args, 'run seq 20000 | head -c 60000');
      t.equal(full.status, 1);
      const told = /^the turn could not be recorded: the state cannot be written/;
      t.match(JSON.parse(full.stdout), { status: 'failed', error: { message: told } });
      t.notMatch(full.stderr, /^ +at /m, 'no stack of an incident');
      t.equal(inShell(t, 'exec "$@"', args).status, 0);
      const shown = await runTurnd(['show', '--state-dir', dir, '--json']);
      t.match(
        shown.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).status),
        ['failed', 'completed'],
        'the first turn is settled by the second run',
      );
    }
  },
);

t.test('the prompt', async (t) => {
  t.test('comes from stdin only when asked for', async (t) => {
    const asked = await runJob(t, [{ match: 'from the pipe', text: 'got it' }], {
      prompt: '-',
      stdin: 'from the pipe',
    });
    t.equal(asked.stdout, 'got it\n');
    const open = await runJob(t, [{ text: 'no waiting' }], { stdin: 'open' });
    t.equal(open.stdout, 'no waiting\n', 'an open, silent stdin is not read');
    const none = execFileSync('bash', ['-c', '"$0" "$1" --prompt help <&-', process.execPath, TURND], {
      env: cleanEnv(scratch(t)),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.match(none, /What I can do/, 'there may be no stdin at all');
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

t.test('a model without a server is told, never answered by the built-in one', async (t) => {
  const job = await runTurnd(['--prompt', 'help', '--model', 'some-model']);
  t.equal(job.code, 2, job.stdout);
  t.match(job.stderr, /there is no server for model some-model; use --endpoint/);
  t.equal(job.stdout, '');
});

t.test('words that are no flag are told by what they may have been', async (t) => {
  for (const [args, pattern] of [
    [['itms'], /unknown command 'itms'.*Did you mean items\?/s],
    [['fix', 'the', 'test'], /unexpected 'fix the test': a prompt is one quoted text, --prompt "…"/],
    [['--prompt', 'fix', 'the', 'test'], /unexpected 'the test'/],
    [['config', 'check', 'some.yaml'], /too many arguments/],
    [[], /--prompt <text>.*Examples:.*Exit codes:/s],
  ] as const) {
    const run = await runTurnd(args);
    t.equal(run.code, 2, args.join(' '));
    t.match(run.stderr, pattern);
    t.equal(run.stdout, '');
  }
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

t.test('where the configuration keeps the state, a job and the verbs find it', async (t) => {
  const cwd = scratch(t);
  writeFileSync(join(cwd, 'turnd.yaml'), 'intelligence:\n  dialect: builtin\nstore:\n  path: ./kept\n');
  t.equal((await runTurnd(['--prompt', 'help'], { cwd })).code, 0);
  const shown = await runTurnd(['show'], { cwd });
  t.equal(shown.code, 0, shown.stderr);
  t.match(shown.stdout, /operator: help/);
  t.match(shown.stdout, /· 1 round · 0 calls ·/);
  const turn = shown.stdout.match(/turn_[0-9a-z]+/)?.[0] ?? '';
  t.match(await runTurnd(['items', turn], { cwd }), { code: 0, stdout: /turn_ended/ });
  const other = await runTurnd(['show', '--thread', 'review'], { cwd });
  t.match(other.stderr, /no thread review in .*; there are: root/, 'as a flag the thread is heard too');
  const nowhere = await runTurnd(['show'], { cwd: scratch(t) });
  t.equal(nowhere.code, 2);
  t.match(nowhere.stderr, /name the state directory: --state-dir/);
});

t.test('two verbs read a state directory while a job holds it', async (t) => {
  const job = await startJob(t, [{ calls: [exec('echo seen')] }, { hang: 'no_answer' }]);
  await job.model.waitForRequest(2);
  const shown = await runTurnd(['show', 'root', '--state-dir', job.stateDir]);
  t.equal(shown.code, 0, shown.stderr);
  t.match(shown.stdout, /Do it\./);
  t.notMatch(shown.stdout, /0 rounds/, 'what is counted at the end is not told before');
  const turnId = shown.stdout.match(/turn_[0-9a-z]+/)?.[0] ?? '';
  const items = startTurnd(['items', turnId, '--state-dir', job.stateDir]);
  const printed = await items.finished;
  t.equal(printed.code, 0, printed.stderr);
  t.match(printed.stdout, /exec_command/);
  job.child.kill('SIGKILL');
  await job.finished;
});
