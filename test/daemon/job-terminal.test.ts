// A job on a real terminal: who is asked, what is drawn, and that none of it is left over.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { scratch } from '../fakes/job.js';
import { cleanEnv, TURND } from '../fakes/run-turnd.js';

const ON_A_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

/** Runs a job of the built-in model on a terminal; each `[pattern, keys]` types keys once the pattern has been seen. */
function onTerminal(
  home: string,
  args: readonly string[],
  typing: readonly (readonly [RegExp, string])[],
): Promise<{ code: number | null; screen: string }> {
  const command = [process.execPath, TURND, '--dialect', 'builtin', ...args];
  const child = spawn('python3', ['-c', ON_A_TERMINAL, ...command], {
    cwd: home,
    env: cleanEnv(home, { TERM: 'xterm' }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  let from = 0;
  const left = [...typing];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    const [next] = left;
    if (next === undefined || !next[0].test(screen.slice(from))) return;
    left.shift();
    from = screen.length;
    child.stdin.write(next[1]);
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, screen })));
}

t.test('a person at the terminal allows one call and refuses another', async (t) => {
  const home = scratch(t);
  const supervised = ['--permission-mode', 'supervised', '--on-ask', 'wait'];
  const { code, screen } = await onTerminal(
    home,
    ['--prompt', 'write x to a.txt and then write y to b.txt', ...supervised],
    [
      [/allow write_file .*a\.txt.*\[y\/N\] $/, 'y\n'],
      [/allow write_file .*b\.txt.*\[y\/N\] $/, '\n'],
    ],
  );
  t.equal(code, 0, screen);
  t.ok(existsSync(join(home, 'a.txt')), screen);
  t.notOk(existsSync(join(home, 'b.txt')), 'no answer is a no');
  t.match(screen, /\r\u001b\[2Kturnd: allow write_file/, 'a question begins on an empty line');
  t.match(screen, /\r\u001b\[2K1\. Wrote `a\.txt`/, 'and so does the answer: the progress line is gone');
});

t.test('Ctrl-C at a question cancels the job', async (t) => {
  const home = scratch(t);
  const { code, screen } = await onTerminal(
    home,
    ['--prompt', 'run echo no', '--permission-mode', 'supervised', '--on-ask', 'wait'],
    [[/\[y\/N\] $/, '\u0003']],
  );
  t.equal(code, 130, screen);
  t.match(screen, /turnd: cancelled: the turn was cancelled/);
});
