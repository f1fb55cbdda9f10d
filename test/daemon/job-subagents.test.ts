// Work that a turn gives away, with the real command and a model behind it: it comes back, and nothing of it stays.
import t from 'tap';
import { document, runJob } from '../fakes/job.js';
import type { FakeCall, FakeRequest } from '../fakes/model-steps.js';

const give = (instruction: string, more: object = {}): FakeCall => ({
  name: 'subagent_run',
  arguments: { instruction, ...more },
});
const toolsOf = ({ body }: FakeRequest): string[] =>
  (body.tools as { readonly function: { readonly name: string } }[]).map((tool) => tool.function.name);

t.test('a turn waits for its subagent in the only slot there is, and goes on with its answer', async (t) => {
  const job = await runJob(
    t,
    [
      { calls: [give('Count the stars.', { tools: ['read_file', 'glob_files'] })] },
      { text: 'There are seven.' },
      { text: 'Seven stars.' },
    ],
    {
      prompt: 'How many stars?',
      env: { TURND_AGENT_MAX_PARALLEL_TURNS: '1' },
      args: ['--output', 'json'],
    },
  );
  t.equal(job.code, 0, job.stderr);
  t.match(document(job), { status: 'completed', reply: 'Seven stars.' });
  const [parent, child, back] = job.model.requests;
  t.ok(parent && toolsOf(parent).includes('exec_command'));
  t.same(
    child && toolsOf(child).sort(),
    ['glob_files', 'read_file'],
    'it has what it was given, and no more',
  );
  t.match(child?.bodyText, 'Count the stars.');
  t.notMatch(child?.bodyText, 'How many stars?', 'it is told what it was told, nothing else');
  t.match(back?.bodyText, 'There are seven.');
  job.model.assertDone();
});

t.test('the spend of subagents is in the result of the job, once', async (t) => {
  const usage = (input: number): { readonly usage: { readonly input: number; readonly output: number } } => ({
    usage: { input, output: 1 },
  });
  const job = await runJob(
    t,
    [
      { calls: [give('Look.')], ...usage(100) },
      { text: 'Seen.', ...usage(1_000) },
      { text: 'Done.', ...usage(10_000) },
    ],
    { prompt: 'Have a look.', args: ['--output', 'json'] },
  );
  t.match(document(job), { usage: { input_tokens: 11_100, output_tokens: 3 } });
});
