// The built-in model with real commands: what it says of a command is what happened.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { playBuiltin } from '../fakes/builtin-turn.js';
import { testContext } from '../fakes/shell-context.js';

t.test('a command is really run, and told with its exit code and output', async (t) => {
  const context = testContext(t);
  const good = await playBuiltin('run: `echo "it is $((6 * 7))"`', context);
  t.match(good.reply, /`echo .*` ended well \(exit code 0\)\.\n\n```\nit is 42\n```/);
  t.equal(good.rounds, 2);
  const bad = await playBuiltin('run echo no; exit 3', context);
  t.match(bad.reply, /failed \(exit code 3\)/);
  t.match(bad.reply, /```\nno\n```/);
  const silent = await playBuiltin('run true', context);
  t.match(silent.reply, /It printed nothing\./);
});

t.test('a command runs in the folder that was named', async (t) => {
  const context = testContext(t);
  mkdirSync(join(context.workspaceRoot, 'inner'));
  const { reply } = await playBuiltin('run `basename "$PWD"` in inner', context);
  t.match(reply, /```\ninner\n```/);
});

t.test('a command that outlives its first answer is followed to its end', async (t) => {
  const context = testContext(t, { exec_yield_ms: 20 });
  const { reply, calls } = await playBuiltin('run `echo one; sleep 0.2; echo two`', context);
  t.match(reply, /ended well \(exit code 0\)/);
  t.match(reply, /one\ntwo/);
  t.ok(calls.filter((call) => call.tool === 'write_stdin').length >= 1, 'it was polled');
});

t.test('a command that ran out of time is told as such, with what it printed', async (t) => {
  const context = testContext(t, { exec_timeout_ms: 300 });
  const { reply } = await playBuiltin('run `echo before; sleep 60; echo after`', context);
  t.match(reply, /ran into its time limit/);
  t.match(reply, /```\nbefore\n```/);
  t.notMatch(reply, /ended well/);
});
