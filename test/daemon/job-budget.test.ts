// Jobs with a budget, by the real command: what one run spends is gone for the next one on the same state directory.
import { join } from 'node:path';
import t from 'tap';
import { openReader } from '../../supervisor/store/open.js';
import type { Reader } from '../../supervisor/store/reader.js';
import { document, runJob, scratch, startJob } from '../fakes/job.js';
import { runTurnd } from '../fakes/run-turnd.js';

const json = ['--output', 'json'];
const BUDGET = 'TURND_INTELLIGENCE_BUDGET_';
const windows = (...list: object[]) => ({ [`${BUDGET}WINDOWS`]: JSON.stringify(list) });
const exec = (command: string) => ({ calls: [{ name: 'exec_command', arguments: { command } }] });

function look<T>(stateDir: string, see: (reader: Reader) => T): T {
  const opened = openReader(stateDir);
  if (!opened.ok) throw new Error(opened.failure.message);
  try {
    return see(opened.reader);
  } finally {
    opened.reader.close();
  }
}

t.test('jobs with a budget', async (t) => {
  t.jobs = 2;

  t.test('7 when the lifetime of a state directory is used up, before any model is asked', async (t) => {
    const stateDir = join(scratch(t), 'state');
    const env = { [`${BUDGET}LIFETIME_TOKENS`]: '200' };
    const first = await runJob(t, [{ text: 'Done.' }], { stateDir, env, args: json });
    t.equal(first.code, 0, first.stderr);
    t.match(document(first).usage, { input_tokens: 100, output_tokens: 20 });
    const second = await runJob(t, [], { stateDir, env, args: json });
    t.equal(second.code, 7, second.stderr);
    t.match(document(second), {
      status: 'exhausted_tokens',
      error: { code: 'exhausted_tokens', message: /the lifetime budget of 200 tokens has no room/ },
      rounds: 0,
    });
    t.equal(second.model.requests.length, 0);
    const { stdout } = await runTurnd(['items', document(second).turn_id ?? '', '--state-dir', stateDir]);
    t.match(stdout, /turn not run: the lifetime budget/);
    const without = await runJob(t, [{ text: 'Again.' }], { stateDir, args: json });
    t.equal(without.code, 0, 'without the cap the thread goes on');
  });

  t.test('7 when it is used up in the middle of a turn, after what was begun is done', async (t) => {
    const env = { [`${BUDGET}LIFETIME_TOKENS`]: '200' };
    const job = await runJob(t, [exec('echo one')], { env, args: json });
    t.equal(job.code, 7, job.stderr);
    t.match(document(job), { status: 'exhausted_tokens', rounds: 1, tool_calls: 1 });
  });

  t.test('5 when the operator refuses rather than waits', async (t) => {
    const stateDir = join(scratch(t), 'state');
    const env = { ...windows({ per: 'week', requests: 1 }), [`${BUDGET}ON_EXHAUSTED`]: 'refuse' };
    t.equal((await runJob(t, [{ text: 'Done.' }], { stateDir, env })).code, 0);
    const second = await runJob(t, [], { stateDir, env, args: json });
    t.equal(second.code, 5, second.stderr);
    t.match(document(second), {
      status: 'refused',
      error: { code: 'refused', message: /1 requests per week/ },
    });
  });

  t.test('a cancel during a wait ends the job at once, before the turn and within it', async (t) => {
    const stateDir = join(scratch(t), 'state');
    const env = windows({ per: 'week', requests: 1 });
    const within = await startJob(t, [exec('echo one')], { stateDir, env, args: json });
    await within.seen(/"budget\.wait"/);
    within.child.kill('SIGINT');
    const first = await within.finished;
    t.equal(first.code, 130, first.stderr);
    t.match(document(first), { status: 'cancelled', rounds: 1 });
    t.equal(within.model.requests.length, 1);
    const before = await startJob(t, [], { stateDir, env, args: json });
    await before.seen(/"budget\.wait"/);
    before.child.kill('SIGTERM');
    const second = await before.finished;
    t.equal(second.code, 143, second.stderr);
    t.match(document(second), { status: 'cancelled', rounds: 0 });
    t.equal(before.model.requests.length, 0);
    t.ok(document(second).duration_ms < 20_000);
  });

  t.test('a wait ends with its window, and the calls come apart', async (t) => {
    const env = windows({ per: 'second', requests: 1 });
    const job = await runJob(t, [exec('echo one'), exec('echo two'), { text: 'Done.' }], { env, args: json });
    t.equal(job.code, 0, job.stderr);
    t.equal(job.model.requests.length, 3);
    const [first, , third] = job.model.requests.map((request) => request.receivedMs);
    t.ok((third ?? 0) - (first ?? 0) > 900, 'three calls need a whole second between the first and the last');
  });

  t.test('a wait longer than max_wait is not begun', async (t) => {
    const stateDir = join(scratch(t), 'state');
    const env = { ...windows({ per: 'week', requests: 1 }), [`${BUDGET}MAX_WAIT`]: '1s' };
    t.equal((await runJob(t, [{ text: 'Done.' }], { stateDir, env })).code, 0);
    const second = await runJob(t, [], { stateDir, env, args: json });
    t.equal(second.code, 7, second.stderr);
    t.match(document(second).error?.message, /max_wait/);
  });

  t.test('on the cheaper model a turn goes on', async (t) => {
    const env = {
      ...windows({ per: 'week', requests: 1 }),
      [`${BUDGET}ON_EXHAUSTED`]: 'degrade',
      [`${BUDGET}DEGRADE_MODEL`]: 'cheap',
    };
    const job = await runJob(t, [exec('echo one'), { text: 'Done.' }], { env, args: json });
    t.equal(job.code, 0, job.stderr);
    t.same(
      job.model.requests.map(({ body }) => body['model']),
      ['scripted', 'cheap'],
    );
  });

  t.test('with a price the cost stands in the result, in the stream and in the items', async (t) => {
    const prices = { scripted: { input: 2, output: 10, cached: 0.5 } };
    const env = { TURND_INTELLIGENCE_PRICES: JSON.stringify(prices) };
    const steps = [{ text: 'Done.', usage: { input: 1_000, output: 100, cached: 600 } }];
    const job = await runJob(t, steps, { env, args: ['--output', 'stream-json'] });
    t.equal(job.code, 0, job.stderr);
    const last = JSON.parse(job.stdout.trimEnd().split('\n').at(-1) ?? '') as ReturnType<typeof document>;
    t.equal(last.usage.cost, 0.0021);
    const items = await runTurnd(['items', last.turn_id ?? '', '--state-dir', job.stateDir]);
    t.match(items.stdout, /1000 in \(600 cached\), 100 out, \$0\.0021/);
    const unpriced = await runJob(t, [{ text: 'Done.' }], { args: json });
    t.notOk('cost' in document(unpriced).usage, 'unknown is not nothing');
  });

  t.test('2 for a budget without sense, with its place, and for a cost that nobody can count', async (t) => {
    const bad = await runJob(t, [], { env: windows({ per: 'day', tokens: 0 }) });
    t.equal(bad.code, 2);
    t.match(
      bad.stderr,
      /\$TURND_INTELLIGENCE_BUDGET_WINDOWS: intelligence\.budget\.windows\.0\.tokens: is too small/,
    );
    const args = ['--prompt', 'help', '--state-dir', join(scratch(t), 'state'), '--dialect', 'openai'];
    const unpriced = await runTurnd(args, {
      env: { [`${BUDGET}LIFETIME_COST`]: '1', OPENAI_API_KEY: 'sk-of-a-test-000000000000' },
    });
    t.equal(unpriced.code, 2, unpriced.stderr);
    t.match(unpriced.stderr, /nobody knows what \S+ costs/);
  });

  t.test(
    'what a killed supervisor had let go is counted by the next one, and nothing stays held',
    async (t) => {
      const stateDir = join(scratch(t), 'state');
      const env = { [`${BUDGET}LIFETIME_TOKENS`]: '1000000' };
      const killed = await startJob(t, [{ hang: 'no_answer' }], { stateDir, env });
      await killed.model.waitForRequest(1);
      killed.child.kill('SIGKILL');
      await killed.finished;
      t.match(
        look(stateDir, (reader) => reader.reservations.all()),
        [{ call_index: 1, output_tokens: 4_096 }],
      );
      const next = await runJob(t, [{ text: 'Done.' }], { stateDir, env, args: json });
      t.equal(next.code, 0, next.stderr);
      const spent = look(stateDir, (reader) => reader.spending.get('instance', 'lifetime', 0));
      t.equal(spent?.requests, 2);
      t.ok((spent?.tokens ?? 0) > 4_096 + 120, `${spent?.tokens} tokens`);
      t.same(
        look(stateDir, (reader) => reader.reservations.all()),
        [],
      );
    },
  );
});
