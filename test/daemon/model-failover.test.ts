// Endpoints that do not answer and models that cannot be reached, by the real command: the work goes on, and says so.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { checkedClient } from '../fakes/checked-client.js';
import { type FakeModel, startFakeModel } from '../fakes/fake-model-server.js';
import { document, scratch } from '../fakes/job.js';
import { allEnded, echo } from '../fakes/kept-state.js';
import type { FakeScript } from '../fakes/model-steps.js';
import { type Finished, runTurnd } from '../fakes/run-turnd.js';
import { serveDaemon } from '../fakes/served-daemon.js';

/** A port of this machine on which nobody listens. */
const DEAD = 'http://127.0.0.1:1/v1';

async function server(t: Test, script: FakeScript): Promise<FakeModel> {
  const model = await startFakeModel({ script });
  t.teardown(() => model.close());
  return model;
}

function job(t: Test, intelligence: readonly string[]): Promise<Finished> {
  const home = scratch(t);
  const config = join(home, 'turnd.yaml');
  writeFileSync(config, ['intelligence:', ...intelligence.map((line) => `  ${line}`)].join('\n'));
  const args = ['--prompt', 'Do it.', '--config', config, '--state-dir', join(home, 'state')];
  return runTurnd([...args, '--output', 'json'], { cwd: scratch(t) });
}

t.test('a job whose first endpoint is dead is done by the second', async (t) => {
  const live = await server(t, [
    { calls: [{ name: 'list_dir', arguments: { path: '.' } }] },
    { text: 'Done.' },
  ]);
  const finished = await job(t, [`endpoints: ["${DEAD}", "${live.openaiUrl}"]`, 'model: scripted']);
  t.equal(finished.code, 0, finished.stderr);
  t.match(document(finished), { status: 'completed', reply: 'Done.', rounds: 2 });
  t.equal(
    finished.stderr.match(/model\.endpoint_failed/g)?.length,
    1,
    'told once: the second round went to the one that works',
  );
  live.assertDone();
});

t.test('a job goes on with the fallback of its model, which is what is booked', async (t) => {
  const busy = await server(t, () => ({ status: 503, body: {} }));
  const spare = await server(t, [{ text: 'Done by the spare.', usage: { input: 1_000, output: 100 } }]);
  const finished = await job(t, [
    `endpoints: ${busy.openaiUrl}`,
    'model: main',
    `providers: {other: {endpoints: "${spare.anthropicUrl}", dialect: anthropic}}`,
    'models: {main: {model: wire-main, fallback: spare}, spare: {provider: other, model: wire-spare}}',
    'prices: {wire-spare: {input: 2, output: 10}, wire-main: {input: 900, output: 900}}',
    'budget: {lifetime: {cost: 100}}',
  ]);
  t.equal(finished.code, 0, finished.stderr);
  const result = document(finished);
  t.match(result, { status: 'completed', reply: 'Done by the spare.' });
  t.match(result.usage, { input_tokens: 1_000, output_tokens: 100, cost: 0.003 });
  t.match(finished.stderr, /model\.fallback.*wire-main.*wire-spare/);
  t.equal(spare.requests[0]?.body.model, 'wire-spare');
  spare.assertDone();
});

t.test('a daemon leaves an endpoint alone that failed three turns, and tries it again later', async (t) => {
  let broken = true;
  const flaky = await server(t, (request) => (broken ? { status: 503, body: {} } : echo(request)));
  const daemon = await serveDaemon(t, echo, { endpointsBefore: [flaky.openaiUrl] });
  const client = await checkedClient(t, daemon);
  const { workspace } = await client.call('workspace/default', {});
  await client.call('thread/start', { thread_id: 'desk', workspace_id: workspace.id });
  let turns = 0;
  const turn = async (): Promise<void> => {
    turns += 1;
    const input = [{ type: 'text' as const, text: `message ${turns}.` }];
    await client.call('turn/start', { thread_id: 'desk', turn_id: `desk.${turns}`, input });
    t.ok(await allEnded(daemon.stateDir, turns));
  };
  for (const tried of [1, 2, 3, 3, 3]) {
    await turn();
    t.equal(flaky.requests.length, tried, `turn ${turns}`);
    t.equal(daemon.model.requests.length, turns, 'each was answered by the other');
  }
  broken = false;
  await new Promise((resolve) => setTimeout(resolve, 5_100));
  await turn();
  t.equal(flaky.requests.length, 4, 'after its rest it is tried first again');
  t.equal(daemon.model.requests.length, turns - 1);
  await turn();
  t.equal(flaky.requests.length, 5, 'and stays');
});
