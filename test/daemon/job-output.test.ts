// What a job prints, and when: the answer alone on stdout, its events where they are asked for, waits where they happen.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { inShell, runJob, scratch, startJob } from '../fakes/job.js';
import type { FakeCall } from '../fakes/model-steps.js';
import { cleanEnv, TURND } from '../fakes/run-turnd.js';

const exec = (command: string): FakeCall => ({ name: 'exec_command', arguments: { command } });

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
  t.test('that takes no result makes the job a failure', async (t) => {
    for (const format of ['text', 'json']) {
      const job = inShell(t, 'exec "$@" >/dev/full', ['--output', format]);
      t.equal(job.status, 1);
      t.match(job.stderr, /the output could not be written: .*no space left/);
    }
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

t.test('a wait for the model is told, and a cancel does not wait for its end', async (t) => {
  const busy = { status: 529, body: { error: { type: 'overloaded_error', message: 'busy' } } };
  const told = await runJob(t, [busy, { text: 'Here.' }], { args: ['--output', 'stream-json'] });
  t.equal(told.code, 0, told.stderr);
  const lines = told.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const message = lines.find(({ params }) => params?.item?.type === 'agentMessage')?.params.item;
  t.match(lines.find(({ method }) => method === 'item/retry_scheduled')?.params, {
    thread_id: 'root',
    item_id: message?.id,
    attempt_number: 1,
    next_run_at_unix: Number,
    reason: 'overloaded',
  });
  t.match(told.stderr, /"level":"warn".*"event":"model\.retry".*"reason":"overloaded"/);

  const limited = { status: 429, headers: { 'retry-after': '59' }, body: {} };
  const waiting = await startJob(t, [limited]);
  await waiting.seen(/model\.retry/);
  const askedAt = process.hrtime.bigint();
  waiting.child.kill('SIGINT');
  t.equal((await waiting.finished).code, 130);
  t.ok(process.hrtime.bigint() - askedAt < 2_000_000_000n, 'at once');
});
