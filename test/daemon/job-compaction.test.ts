// A job whose conversation outgrows the window of its model, with the real command: what the provider is sent stays
// within bounds and keeps what matters, nothing loops, and the thread goes on.
import { join } from 'node:path';
import t from 'tap';
import { estimateTokens } from '../../shared/transcript/estimate-tokens.js';
import { document, runJob, scratch } from '../fakes/job.js';
import type { FakeRequest, FakeStep } from '../fakes/model-steps.js';
import { runTurnd } from '../fakes/run-turnd.js';

const WINDOW = 32_000;
const env = { TURND_CONTEXT_MODEL_WINDOW: String(WINDOW) };
const TASK = 'Look at everything. Never push. Write the file marker.txt exactly once.';
const SUMMARY = {
  goals: ['look at everything'],
  decisions: [],
  open: ['the rest'],
  facts: ['marker.txt is there'],
  narrative: 'It looked around.',
};

const exec = (command: string) => ({ name: 'exec_command', arguments: { command } });
/** Nobody counts: our own estimates decide. */
const calling = (command: string): FakeStep => ({ calls: [exec(command)], usage: null });
const reading = (index: number): FakeStep =>
  calling(`head -c 20000 /dev/zero | tr '\\0' x; echo page ${index}`);
const says = (text: string): FakeStep => ({ text, usage: null });

const isSummary = ({ bodyText }: FakeRequest): boolean =>
  bodyText.includes('keep the record of a long conversation');
const summaries: FakeStep = {
  ...says(JSON.stringify(SUMMARY)),
  match: isSummary,
  times: Number.POSITIVE_INFINITY,
};

/** The conversation in a request; tools and prompt are the same each time. */
const sizeOf = ({ body }: FakeRequest): number => estimateTokens(JSON.stringify(body.messages));

const tooLong = (more: Partial<FakeStep>): FakeStep => ({
  times: Number.POSITIVE_INFINITY,
  status: 400,
  body: {
    error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'prompt is too long' },
  },
  ...more,
});

for (const dialect of ['openai', 'anthropic'] as const)
  t.test(`${dialect}: a turn that reads more than its window goes on with a summary`, async (t) => {
    const stateDir = join(scratch(t), 'state');
    const pages = Array.from({ length: 9 }, (_, index) => reading(index));
    const job = await runJob(
      t,
      [summaries, calling('echo once >> marker.txt'), ...pages, says('Seen it all.')],
      { dialect, stateDir, prompt: TASK, env, args: ['--output', 'json'] },
    );
    t.equal(job.code, 0, job.stderr);
    t.equal(document(job).reply, 'Seen it all.');
    job.model.assertDone();
    const turns = job.model.requests.filter((request) => !isSummary(request));
    for (const request of turns) t.ok(sizeOf(request) < 0.7 * WINDOW, `${sizeOf(request)} tokens`);
    const last = turns.at(-1)?.bodyText ?? '';
    t.match(last, '# Summary of the earlier conversation');
    t.match(last, TASK, 'the request is there word for word');
    t.match(last, /echo once >> marker\.txt.{0,10}: done/, 'and what was done');
    t.match(last, 'page 8', 'and the newest page');
    const next = await runJob(t, [summaries, says('Here I am.')], {
      dialect,
      stateDir,
      prompt: 'And now?',
      env,
    });
    t.equal(next.code, 0, next.stderr);
    t.match(next.model.requests.find((request) => !isSummary(request))?.bodyText, TASK);
    const shown = await runTurnd(['show', 'root', '--state-dir', stateDir]);
    t.match(shown.stdout, /models see it (?:summarised|excerpted) up to turn_/);
    t.match(shown.stdout, /→ exec_command .*echo once/, 'nothing is gone');
  });

t.test('a window that is smaller than it is said to be is found out once, and remembered', async (t) => {
  const stateDir = join(scratch(t), 'state');
  const said = { TURND_CONTEXT_MODEL_WINDOW: '40000' };
  const refusals = tooLong({ match: (request) => !isSummary(request) && sizeOf(request) > 14_000 });
  const pages = Array.from({ length: 4 }, (_, index) => reading(index));
  const job = await runJob(t, [summaries, refusals, ...pages, says('Seen.')], {
    stateDir,
    prompt: TASK,
    env: said,
  });
  t.equal(job.code, 0, job.stderr);
  const refusedOf = (requests: readonly FakeRequest[]): FakeRequest[] =>
    requests.filter((request) => !isSummary(request) && sizeOf(request) > 14_000);
  t.equal(refusedOf(job.model.requests).length, 1);
  const next = await runJob(t, [summaries, refusals, ...pages.slice(2), says('Again.')], {
    stateDir,
    prompt: 'More',
    env: said,
  });
  t.equal(next.code, 0, next.stderr);
  t.same(refusedOf(next.model.requests).map(sizeOf), []);
});

t.test(
  'a provider that always says "too long" is asked a few times, and the job says why it ends',
  async (t) => {
    const job = await runJob(t, [summaries, tooLong({})], { env, args: ['--output', 'json'] });
    t.not(job.code, 0);
    t.match(document(job), { status: 'failed', error: { code: 'context_exhausted' } });
    t.equal(
      job.model.requests.filter((request) => !isSummary(request)).length,
      1,
      'there is nothing to fold',
    );
    const stateDir = join(scratch(t), 'state');
    const pages = Array.from({ length: 3 }, (_, index) => reading(index));
    await runJob(t, [...pages, says('Seen.')], { stateDir, prompt: TASK, env });
    const next = await runJob(t, [summaries, tooLong({})], { stateDir, env, args: ['--output', 'json'] });
    t.match(document(next), { status: 'failed', error: { code: 'context_exhausted' } });
    const asked = next.model.requests.filter((request) => !isSummary(request));
    t.ok(asked.length > 1 && asked.length <= 4, `${asked.length} requests`);
  },
);

t.test('a message of three megabytes has a turn, and its whole text an artifact', async (t) => {
  const stateDir = join(scratch(t), 'state');
  const prompt = `begin ${'lorem ipsum '.repeat(250_000)} end`;
  const job = await runJob(t, [summaries, says('Long.')], {
    stateDir,
    env,
    stdin: prompt,
    prompt: '-',
  });
  t.equal(job.code, 0, job.stderr);
  const [request] = job.model.requests;
  t.ok(request !== undefined && sizeOf(request) < 0.7 * WINDOW);
  t.match(request?.bodyText, /characters are left out here/);
  const next = await runJob(t, [summaries, says('Here.')], { stateDir, env, prompt: 'And now?' });
  t.equal(next.code, 0, next.stderr);
});

t.test('a window without room for a conversation is refused before anything starts', async (t) => {
  const run = await runTurnd(['config', 'check'], {
    env: { TURND_CONTEXT_MODEL_WINDOW: '8000', TURND_INTELLIGENCE_MAX_OUTPUT_TOKENS: '16000' },
  });
  t.not(run.code, 0);
  t.match(run.stderr + run.stdout, /intelligence\.max_output_tokens.*leaves no room in a window of 8000/);
});
