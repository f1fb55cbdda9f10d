// exec_command on real processes: results, limits, and questions that nobody answers.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import * as v from 'valibot';
import { type ExecCommandParams, execCommandParams } from '../../shared/tools/shell-tools.js';
import { baseEnvironment } from '../../worker/sandbox/base-environment.js';
import { execCommand } from '../../worker/tools/exec-command.js';
import { eventually, processesWith } from '../fakes/processes.js';
import { run, seen } from '../fakes/shell-calls.js';
import { testContext } from '../fakes/shell-context.js';

t.test('a command gives its output in order of arrival, its exit code and its time', async (t) => {
  const context = testContext(t);
  const result = await run(context, 'echo one; echo two >&2; echo three; echo four >/dev/stderr; exit 3');
  t.match(result, { output: 'one\ntwo\nthree\nfour\n', exit_code: 3, isError: false, output_bytes: 19 });
  t.ok(result.duration_ms >= 0 && Number.isInteger(result.duration_ms));
  t.notOk('signal' in result || 'timed_out' in result || 'running' in result);
  t.equal(context.shown.join(''), result.output, 'people who watch saw it too');
});

t.test('silence is said to be silence', async (t) => {
  t.match(await run(testContext(t), 'true'), { output: '', exit_code: 0, notes: ['No output.'] });
});

t.test('a death by signal is told by code and name', async (t) => {
  const context = testContext(t);
  t.match(await run(context, 'kill -SEGV $$'), { exit_code: 139, signal: 'SIGSEGV', output: '' });
  t.match(await run(context, 'exit 255'), { exit_code: 255, signal: undefined });
});

t.test('the shell is bash without profiles, in the workspace or in cwd', async (t) => {
  const context = testContext(t);
  mkdirSync(join(context.workspaceRoot, 'sub'));
  t.equal((await run(context, 'pwd')).output, `${context.workspaceRoot}\n`);
  t.equal((await run(context, 'pwd', { cwd: 'sub' })).output, `${join(context.workspaceRoot, 'sub')}\n`);
  t.match(await run(context, 'shopt -q login_shell || test -n "$BASH_VERSION" && echo bash'), {
    output: 'bash\n',
  });
  t.match(await run(context, 'pwd', { cwd: 'none' }), {
    isError: true,
    error: /no directory/,
    code: 'invalid_params',
  });
  writeFileSync(join(context.workspaceRoot, 'file'), '');
  t.match(await run(context, 'pwd', { cwd: 'file' }), { isError: true, error: /not a directory/ });
});

t.test('a command longer than an argument can be is run all the same', async (t) => {
  const long = `cat <<'END' | wc -c\n${'x'.repeat(300_000)}\nEND`;
  t.match(await run(testContext(t), long), { output: '300001\n', exit_code: 0 });
  t.match(await run(testContext(t), 'echo \0'), { isError: true, error: /NUL/ });
});

t.test(
  'the environment is an allow-list, settings that ask nobody, the marker, and what was asked for',
  async (t) => {
    const context = testContext(t);
    process.env['PROVIDER_API_KEY'] = 'canary-key-123';
    t.teardown(() => delete process.env['PROVIDER_API_KEY']);
    const { output } = await run(context, 'env', { env: { EXTRA: 'yes', PAGER: 'less' } });
    const names = output.split('\n').map((line) => line.split('=')[0] ?? '');
    t.notMatch(output, /canary-key/);
    t.match(output, /^EXTRA=yes$/m);
    t.match(output, /^PAGER=less$/m, 'what was asked for wins over our settings');
    t.match(output, new RegExp(`^TURND_TURN=${context.processMarker}$`, 'm'));
    const known = /^(PATH|HOME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|USER|LOGNAME|SHELL|EXTRA|PWD|OLDPWD|SHLVL|_|)$/;
    const ours =
      /^(TURND_TURN|TURND_COMMAND|TERM|NO_COLOR|\w*PAGER|GIT_\w+|GCM_\w+|EDITOR|VISUAL|\w+_ASKPASS|SSH_\w+|DEBIAN_FRONTEND|PIP_NO_INPUT)$/;
    t.same(
      names.filter((name) => !known.test(name) && !ours.test(name)),
      [],
    );
    t.match(await run(context, 'env', { env: { TURND_TURN: 'x' } }), { isError: true, error: /reserved/ });
    t.match(await run(context, 'env', { env: { 'A=B': 'x' } }), { isError: true, error: /not a name/ });
    t.match(await run(context, 'env', { env: { A: 'x\0' } }), { isError: true, error: /NUL/ });
  },
);

t.test('the base environment always has a PATH and a UTF-8 locale', async (t) => {
  t.match(baseEnvironment({}), { PATH: /\/usr\/bin/, LANG: 'C.UTF-8' });
  t.same(baseEnvironment({ PATH: '/x', LC_ALL: 'C', SECRET: 's', HOME: '' }), { PATH: '/x', LC_ALL: 'C' });
});

t.test('a time limit that cannot be is refused with the one that can', async (t) => {
  const context = testContext(t, { exec_timeout_max_ms: 5000 });
  const wrong: unknown[] = [
    0,
    -1,
    0.5,
    5001,
    3_000_000_000,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '5',
    null,
    true,
  ];
  for (const timeout_ms of wrong) {
    const params = { command: 'touch ran', timeout_ms } as ExecCommandParams;
    const result = seen(await execCommand(params, context));
    t.match(
      result,
      { isError: true, code: 'invalid_params', error: /timeout_ms .* from 1 to 5000; got/ },
      `${timeout_ms}`,
    );
    t.equal(
      v.safeParse(execCommandParams, params).success,
      timeout_ms === 5001 || timeout_ms === 3_000_000_000,
    );
  }
  t.match(await run(context, 'true', { yield_ms: -1 }), {
    isError: true,
    error: /yield_ms .* from 0 to 5000/,
  });
  t.notOk(existsSync(join(context.workspaceRoot, 'ran')));
  t.match(await run(context, 'true', { timeout_ms: 5000 }), { exit_code: 0 });
});

t.test('a limit ends the whole tree, keeps the output so far and states itself', async (t) => {
  const context = testContext(t);
  const started = process.hrtime.bigint();
  const script = 'echo begun; (trap "" TERM; setsid sleep 61) & trap "" TERM; sleep 60; sleep 60';
  const result = await run(context, script, { timeout_ms: 400 });
  t.ok(process.hrtime.bigint() - started < 5_000_000_000n);
  t.match(result, { output: 'begun\n', exit_code: null, timed_out: true, isError: true, said: /400 ms/ });
  t.same(processesWith(context.processMarker), []);
});

t.test('the limit also ends what burns time without a word', async (t) => {
  const context = testContext(t);
  t.match(await run(context, 'yes > /dev/null', { timeout_ms: 300 }), { timed_out: true, output: '' });
  t.same(processesWith(context.processMarker), []);
});

t.test('a limit beyond the end of the turn is cut, and the result says so', async (t) => {
  const context = testContext(t, {}, 300);
  t.match(await run(context, 'sleep 60', { timeout_ms: 20_000 }), {
    timed_out: true,
    said: /from 20000 ms to 300 ms/,
  });
  const over = testContext(t, {}, 0);
  t.match(await run(over, 'touch ran'), { isError: true, error: /nothing is left/ });
  t.notOk(existsSync(join(over.workspaceRoot, 'ran')));
});

t.test('the result comes when the shell ends, not when the pipe does', async (t) => {
  const context = testContext(t);
  for (const script of [
    'sleep 61 & echo done',
    '(sleep 61 >/dev/null 2>&1 &) ; echo done',
    'yes & echo done',
  ]) {
    const result = await run(context, script);
    t.match(result, { exit_code: 0, said: /1 background process\(es\) still ran .* were ended/ }, script);
    t.match(result.output, /(^|\n)done\n/);
    t.ok(result.duration_ms < 10_000, `${result.duration_ms} ms`);
    t.same(processesWith(context.processMarker), []);
  }
});

t.test('what finishes by itself right after the shell is waited for', async (t) => {
  const result = await run(testContext(t), 'echo late > >(sleep 0.02; cat)');
  t.match(result, { output: 'late\n', exit_code: 0, notes: undefined });
});

t.test('a turn that ends interrupts the command, and nothing of it is left', async (t) => {
  const context = testContext(t);
  const pending = run(context, 'echo up; (trap "" TERM; setsid sleep 61) & sleep 60');
  t.ok(await eventually(() => context.shown.length > 0, 10_000));
  context.abort('cancel');
  t.match(await pending, { interrupted: true, isError: true, output: 'up\n', exit_code: null });
  t.same(processesWith(context.processMarker), []);
  t.match(await run(context, 'touch ran'), { isError: true, error: /not started/ });
  t.notOk(existsSync(join(context.workspaceRoot, 'ran')));
});

t.test('commands that wait for a person end at once with advice', async (t) => {
  const context = testContext(t);
  const git = 'git -c user.name=n -c user.email=n@example.org -c init.defaultBranch=main';
  const repo = join(context.workspaceRoot, 'repo');
  execFileSync('bash', [
    '-c',
    `git init -q ${repo} && cd ${repo} && touch a && git add a && ${git} commit -qm one`,
  ]);
  const table: [string, RegExp | null, number | null][] = [
    ['read x', /open_stdin/, 1],
    ['cat', /open_stdin/, 0],
    ['python3', /open_stdin/, 0],
    ['python3 -c "input()"', /open_stdin/, 1],
    [`${git} log`, null, 0],
    [`touch b && git add b && ${git} commit`, /-m or -F/, 1],
    [`${git} commit --amend`, null, 0],
    ['git -c credential.helper= ls-remote http://127.0.0.1:1/x.git', null, 128],
    ['crontab -l 2>/dev/null; test -t 0 && exit 9; test -r /dev/tty && : </dev/tty; true', null, 0],
  ];
  for (const [command, advice, code] of table) {
    const result = await run(context, command, { cwd: 'repo', timeout_ms: 20_000 });
    t.match(result, { exit_code: code }, `${command}: ${result.output}`);
    if (advice !== null) t.match(result.said, advice, command);
  }
});

t.test('a rebase goes on without an editor', async (t) => {
  const context = testContext(t);
  const script = `git init -q -b main . && git config user.name n && git config user.email n@example.org
    echo 1 > f && git add f && git commit -qm one && git checkout -qb side && echo 2 > f && git commit -qam two
    git checkout -q main && echo 3 > f && git commit -qam three && git checkout -q side
    git rebase main; echo 4 > f; git add f; git rebase --continue && git log --format=%s`;
  const result = await run(context, script);
  t.match(result, { exit_code: 0 });
  t.match(result.output, /two\nthree\none\n$/);
});

t.test('output beyond the limit is cut in the middle and kept whole in a file, up to its cap', async (t) => {
  const context = testContext(t);
  const result = await run(context, 'seq 1 20000');
  const whole = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('');
  t.ok(result.output.startsWith('1\n2\n3\n') && result.output.endsWith('\n19999\n20000\n'));
  t.equal(result.output_bytes, whole.length);
  t.equal(result.omitted?.bytes, whole.length - 8192);
  t.match(
    result.output,
    new RegExp(`${result.omitted?.bytes} bytes, ${result.omitted?.lines} lines left out`),
  );
  t.match(result.spill, { bytes: whole.length, mime: /^text\/plain/ });
  t.equal(readFileSync(result.spill?.path ?? '', 'utf8'), whole);
  t.ok(result.spill?.path.startsWith(`${context.spoolDir}/`));

  const capped = testContext(t, { spill_bytes: 10_000 });
  const cut = await run(capped, 'seq 1 20000');
  t.match(cut.spill, { bytes: 10_000 });
  t.equal(readFileSync(cut.spill?.path ?? '', 'utf8'), whole.slice(0, 10_000));
  t.match(cut.said, new RegExp(`first 10000 of ${whole.length} bytes`));

  const small = testContext(t);
  t.equal((await run(small, 'echo small')).spill, undefined);
  t.same(readdirSync(small.spoolDir), [], 'nothing is kept where nothing was cut');
});

t.test('binary output is described and kept', async (t) => {
  const result = await run(testContext(t), 'printf "a\\000b\\377" ; head -c 100 /dev/zero');
  t.match(result.output, /^\[binary output, 104 bytes; .* 610062ff0000/);
  t.match(result.spill, { bytes: 104, mime: 'application/octet-stream' });
});

t.test('characters cut by writes of single bytes come out whole', async (t) => {
  const context = testContext(t);
  const script = String.raw`for b in 342 202 254 360 237 230 200; do printf "\\$b"; sleep 0.02; done`;
  t.equal((await run(context, script)).output, '€😀');
  t.equal(context.shown.join(''), '€😀');
});
