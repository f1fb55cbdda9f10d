// exec_command and write_stdin on real processes: results, limits, questions nobody answers, sessions.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import * as v from 'valibot';
import {
  type ExecCommandParams,
  execCommandParams,
  type WriteStdinParams,
} from '../../shared/tools/shell-tools.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import { baseEnvironment } from '../../worker/sandbox/base-environment.js';
import { execCommand } from '../../worker/tools/exec-command.js';
import { endAllSessions, SESSIONS_MAX } from '../../worker/tools/shell-sessions.js';
import { writeStdin } from '../../worker/tools/write-stdin.js';
import { eventually, processesWith } from '../fakes/processes.js';
import { type ShellContent, type ShellContext, testContext } from '../fakes/shell-context.js';

interface Seen extends ShellContent {
  readonly isError: boolean;
  readonly spill: ToolResult['spill'];
  readonly said: string;
}

function seen(result: ToolResult): Seen {
  const content = result.content as unknown as ShellContent;
  return {
    ...content,
    isError: result.is_error,
    spill: result.spill,
    said: (content.notes ?? []).join('\n'),
  };
}

async function run(
  context: ShellContext,
  command: string,
  more: Partial<ExecCommandParams> = {},
): Promise<Seen> {
  return seen(await execCommand({ command, ...more }, context));
}

async function write(context: ShellContext, params: WriteStdinParams): Promise<Seen> {
  return seen(await writeStdin(params, context));
}

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

t.test(
  'a command that outlives its yield time becomes a session that can be polled to its end',
  async (t) => {
    const context = testContext(t);
    const go = join(context.workspaceRoot, 'go');
    const script = `echo first; while [ ! -e ${go} ]; do sleep 0.02; done; echo second; exit 5`;
    const first = await run(context, script, { yield_ms: 300 });
    t.match(first, { running: true, output: 'first\n', isError: false });
    t.notOk('exit_code' in first);
    const { session_id } = first;
    t.match(await write(context, { session_id, yield_ms: 0 }), {
      running: true,
      output: '',
      notes: ['No new output.'],
    });
    writeFileSync(go, '');
    t.match(await write(context, { session_id, text: '' }), {
      output: 'second\n',
      exit_code: 5,
      output_bytes: 13,
    });
    t.match(await write(context, { session_id }), { isError: true, error: /no session/ });
  },
);

t.test('a session is fed, answers, and sees the end of its input', async (t) => {
  const context = testContext(t);
  const { session_id } = await run(context, 'while read -r line; do echo "got $line"; done; echo bye', {
    open_stdin: true,
    yield_ms: 0,
  });
  t.match(await write(context, { session_id, text: 'a\n' }), { running: true, output: 'got a\n' });
  t.match(await write(context, { session_id, text: 'b\nc', close: true }), {
    exit_code: 0,
    output: 'got b\nbye\n',
  });
});

t.test('text for a closed input is refused with the way to have an open one', async (t) => {
  const context = testContext(t);
  const { session_id } = await run(context, 'sleep 60', { yield_ms: 0 });
  t.match(await write(context, { session_id, text: 'x' }), { isError: true, error: /open_stdin: true/ });
  const open = await run(context, 'exec <&-; sleep 60', { yield_ms: 300, open_stdin: true });
  const flood = { session_id: open.session_id, text: 'x'.repeat(900_000), yield_ms: 0 };
  await write(context, flood);
  t.match(await write(context, flood), { isError: true, error: /does not read/ });
});

t.test('a session can be interrupted, terminated and killed', async (t) => {
  const context = testContext(t);
  const trap =
    'trap "echo caught" INT; trap "echo leaving; exit 7" TERM; echo up; while :; do sleep 0.02; done';
  const one = await run(context, trap, { yield_ms: 300 });
  t.match(await write(context, { session_id: one.session_id, signal: 'interrupt' }), {
    running: true,
    output: 'caught\n',
  });
  t.match(await write(context, { session_id: one.session_id, signal: 'terminate' }), {
    exit_code: null,
    output: /leaving/,
  });
  const two = await run(context, 'trap "echo no" TERM; setsid sleep 61 & while :; do sleep 0.02; done', {
    yield_ms: 200,
  });
  t.match(await write(context, { session_id: two.session_id, signal: 'kill' }), {
    exit_code: null,
    output: '',
  });
  t.same(processesWith(context.processMarker), []);
});

t.test('a session ends by its limit and says so when it is polled', async (t) => {
  const context = testContext(t);
  const { session_id } = await run(context, 'echo up; sleep 60', { yield_ms: 200, timeout_ms: 500 });
  t.match(await write(context, { session_id }), { timed_out: true, isError: true, said: /500 ms/ });
});

t.test('output of a session is cut by its own, and kept whole from its beginning', async (t) => {
  const context = testContext(t);
  const { session_id, output } = await run(context, 'echo begin; sleep 0.5; seq 1 20000', { yield_ms: 100 });
  t.equal(output, 'begin\n');
  const rest = await write(context, { session_id });
  t.ok(rest.output.startsWith('1\n2\n') && rest.output.endsWith('20000\n'));
  t.match(readFileSync(rest.spill?.path ?? '', 'utf8'), /^begin\n1\n2\n[\s\S]*\n20000\n$/);
});

t.test('sessions are bounded, have small numbers, and all end with the turn', async (t) => {
  const context = testContext(t);
  for (let id = 1; id <= SESSIONS_MAX; id += 1) {
    t.match(await run(context, 'trap "" TERM; setsid sleep 61 & sleep 60', { yield_ms: 0 }), {
      session_id: id,
    });
  }
  t.match(await run(context, 'cat', { open_stdin: true }), { isError: true, error: /8 sessions/ });
  t.match(await run(context, 'sleep 0.3; echo through', { yield_ms: 0 }), {
    output: 'through\n',
    exit_code: 0,
    said: /could not become a session/,
  });
  t.ok(processesWith(context.processMarker).length >= SESSIONS_MAX);
  t.equal(await endAllSessions(context.processMarker), SESSIONS_MAX);
  t.same(processesWith(context.processMarker), []);
  t.equal(await endAllSessions(context.processMarker), 0);
  t.same(readdirSync(context.spoolDir), [], 'output that nobody will be told of is not kept');
});

t.test('sessions of one turn are not those of another', async (t) => {
  const [mine, other] = [testContext(t), testContext(t)];
  const { session_id } = await run(mine, 'sleep 60', { yield_ms: 0 });
  t.match(await write(other, { session_id }), { isError: true, error: /There are none/ });
});

t.test('an aborted turn ends its sessions too', async (t) => {
  const context = testContext(t);
  const { session_id } = await run(context, '(trap "" TERM; setsid sleep 61) & sleep 60', { yield_ms: 100 });
  context.abort('deadline');
  t.match(await write(context, { session_id }), { interrupted: true, isError: true });
  t.same(processesWith(context.processMarker), []);
});
