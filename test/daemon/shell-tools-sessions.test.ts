// Commands that outlive their yield time: polled, fed, signalled, bounded, and ended with their turn.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { endAllSessions, SESSIONS_MAX } from '../../worker/tools/shell-sessions.js';
import { processesWith } from '../fakes/processes.js';
import { run, write } from '../fakes/shell-calls.js';
import { testContext } from '../fakes/shell-context.js';

t.test('a command that outlives its yield time becomes a session to poll', async (t) => {
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
});

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
