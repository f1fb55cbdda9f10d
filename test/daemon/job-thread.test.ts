// A thread goes on after any end: what the next request carries is a history that a provider accepts. The fake server
// is strict: it refuses unpaired calls, empty blocks and text that is not valid Unicode, as real ones do.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { document, type JobOptions, runJob, scratch, startJob } from '../fakes/job.js';
import type { FakeStep } from '../fakes/model-steps.js';
import { inCall, workerOf } from '../fakes/state.js';

const exec = (command: string) => ({ name: 'exec_command', arguments: { command } });

/** Runs a first job to whatever end, then a second one on the same thread, and expects an answer. */
async function thenContinue(
  t: Test,
  dialect: 'openai' | 'anthropic',
  first: (stateDir: string) => Promise<unknown>,
): Promise<string> {
  const stateDir = join(scratch(t), 'state');
  await first(stateDir);
  const next = await runJob(t, [{ text: 'Here I am again.' }], {
    dialect,
    stateDir,
    prompt: 'And now?',
    args: ['--output', 'json'],
  });
  t.equal(next.code, 0, next.stderr);
  t.equal(document(next).reply, 'Here I am again.');
  next.model.assertDone();
  return next.model.requests[0]?.bodyText ?? '';
}

for (const dialect of ['openai', 'anthropic'] as const) {
  t.test(`${dialect}: a thread goes on`, async (t) => {
    const once =
      (script: FakeStep[], options: Partial<JobOptions> = {}) =>
      (stateDir: string) =>
        runJob(t, script, { dialect, stateDir, ...options });

    t.test('after a completed turn, with all of it in the history', async (t) => {
      const body = await thenContinue(
        t,
        dialect,
        once([{ calls: [exec('echo tool-said-this')] }, { text: 'First.' }]),
      );
      t.match(body, /tool-said-this/);
      t.match(body, /First\./);
    });
    t.test('after kill -9 of the worker in mid-tool, saying that the effect is unknown', async (t) => {
      const body = await thenContinue(t, dialect, async (stateDir) => {
        const job = await startJob(t, [{ calls: [exec('sleep 30'), exec('echo second')] }], {
          dialect,
          stateDir,
        });
        await inCall(stateDir);
        const pgid = await workerOf(stateDir);
        process.kill(-pgid, 'SIGKILL');
        await job.finished;
      });
      t.match(body, /interrupted, effect unknown/);
      t.match(body, /not started/);
      t.match(body, /turn ended with status failed/);
    });
    t.test(
      'after a worker that was lost before its model spoke, and in the middle of its answer',
      async (t) => {
        const half = { text: 'half-an-answer', pieces: 4, breakOff: { after: 3, how: 'silence' } } as const;
        for (const [step, signal] of [
          [{ hang: 'no_answer' }, 'SIGKILL'],
          [half, 'SIGKILL'],
          // What a process that runs out of memory does to itself.
          [half, 'SIGABRT'],
        ] as const) {
          const body = await thenContinue(t, dialect, async (stateDir) => {
            const job = await startJob(t, [step], { dialect, stateDir, args: ['--output', 'stream-json'] });
            await job.model.waitForRequest(1);
            if (step === half) await job.seen(/"delta":"half/);
            process.kill(await workerOf(stateDir), signal);
            const { code, stdout } = await job.finished;
            t.equal(code, 1);
            t.match(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), {
              status: 'failed',
              reply: '',
              error: { code: 'worker_lost', message: new RegExp(signal) },
            });
          });
          t.notMatch(body, /half-an-answer/, 'half an answer is no answer');
        }
      },
    );
    t.test('after kill -9 of the supervisor', async (t) => {
      await thenContinue(t, dialect, async (stateDir) => {
        const job = await startJob(t, [{ calls: [exec('sleep 30')] }], { dialect, stateDir });
        await job.model.waitForRequest(1);
        job.child.kill('SIGKILL');
        await job.finished;
      });
    });
    t.test('after a cancel, a deadline, used-up steps and a loop', async (t) => {
      await thenContinue(t, dialect, async (stateDir) => {
        const job = await startJob(t, [{ calls: [exec('sleep 30')] }], { dialect, stateDir });
        await job.model.waitForRequest(1);
        job.child.kill('SIGINT');
        await job.finished;
      });
      await thenContinue(t, dialect, once([{ hang: 'no_answer' }], { args: ['--deadline', '500ms'] }));
      await thenContinue(
        t,
        dialect,
        once([{ calls: [exec('echo 1'), exec('echo 2')] }], { args: ['--steps', '1'] }),
      );
      await thenContinue(t, dialect, once(Array.from({ length: 4 }, () => ({ calls: [exec('echo same')] }))));
    });
    t.test('after an answer of nothing, and after a model that only thinks', async (t) => {
      await thenContinue(t, dialect, once([{ text: '\n' }, { text: '' }]));
      await thenContinue(t, dialect, once([{ reasoning: 'hm' }, { reasoning: 'hm' }]));
    });
    t.test('after broken, cut and misnamed calls, none of which ran', async (t) => {
      const cwd = scratch(t);
      const broken = [
        { name: 'exec_command', arguments: '{"command":"touch ran-anyway' },
        { name: 'exec_command', arguments: "{'command':'touch ran-anyway'}" },
        { name: 'exec_command', arguments: '{"command":"touch ran-anyway"} trailing' },
        { name: 'no_such_tool', arguments: {} },
        { name: 'exec_command', arguments: { command: 7 } as never },
        { name: 'exec_command', arguments: '' },
      ];
      await thenContinue(t, dialect, once([{ calls: broken, pieces: 1 }, { text: 'I see.' }], { cwd }));
      const cut = { calls: [exec('touch ran-anyway')], stop: dialect === 'openai' ? 'length' : 'max_tokens' };
      await thenContinue(t, dialect, once([cut, { text: 'I see.' }], { cwd }));
      const { existsSync } = await import('node:fs');
      t.notOk(existsSync(join(cwd, 'ran-anyway')));
    });
    t.test('after lone surrogates, NULs, huge and empty results, and half an emoji at the cut', async (t) => {
      const surrogate = { name: 'exec_command', arguments: '{"command":"echo \\ud83d \\u0000"}' };
      await thenContinue(t, dialect, once([{ text: 'half \ud83d', calls: [surrogate] }, { text: 'ok' }]));
      await thenContinue(
        t,
        dialect,
        once([
          { calls: [exec('true'), exec("printf 'a\\0b'"), exec('head -c 3000000 /dev/urandom')] },
          { calls: [exec(`node -e "process.stdout.write('a'.repeat(32767) + '😀'.repeat(90000))"`)] },
          { text: 'ok' },
        ]),
      );
    });
  });
}

t.test('half a thinking block of a cancelled turn is never sent again', async (t) => {
  const body = await thenContinue(t, 'anthropic', async (stateDir) => {
    const job = await startJob(
      t,
      [{ reasoning: 'half-a-thought', pieces: 4, breakOff: { after: 4, how: 'silence' } }],
      { dialect: 'anthropic', stateDir },
    );
    await job.model.waitForRequest(1);
    job.child.kill('SIGINT');
    await job.finished;
  });
  t.notMatch(body, 'half-a-thought');
});

t.test('a thread that thought with one provider goes on with another', async (t) => {
  const stateDir = join(scratch(t), 'state');
  const thinking = [{ reasoning: 'signed thought', calls: [exec('echo x')] }, { text: 'done' }];
  t.equal((await runJob(t, thinking, { dialect: 'anthropic', stateDir })).code, 0);
  const other = await runJob(t, [{ text: 'mine' }], { dialect: 'openai', stateDir, prompt: 'more' });
  t.equal(other.stdout, 'mine\n', other.stderr);
  t.notMatch(other.model.requests[0]?.bodyText, 'signed thought');
});

t.test('threads of one state directory do not see each other', async (t) => {
  const stateDir = join(scratch(t), 'state');
  await runJob(t, [{ text: 'alpha-answer' }], { stateDir, args: ['--thread', 'alpha'] });
  const beta = await runJob(t, [{ text: 'beta-answer' }], { stateDir, args: ['--thread', 'beta'] });
  t.notMatch(beta.model.requests[0]?.bodyText, 'alpha-answer');
  const again = await runJob(t, [{ text: 'again' }], { stateDir, args: ['--thread', 'alpha'] });
  t.match(again.model.requests[0]?.bodyText, 'alpha-answer');
});
