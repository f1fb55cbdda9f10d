// The calls of an answer: order, side by side, broken ones. With the real loop in process.
import { setImmediate as nextTick } from 'node:timers/promises';
import t from 'tap';
import type { CallRequest } from '../../worker/link.js';
import { playTurn, startTurn } from '../fakes/played-turn.js';
import { answer, asks, says } from '../fakes/scripted-provider.js';

/** Tools that end when the test says so: `release(path)`. */
function heldTools() {
  const started: string[] = [];
  const doors = new Map<string, () => void>();
  const run = (request: CallRequest): Promise<string> => {
    const path = String(request.arguments.path);
    started.push(path);
    return new Promise((resolve) => doors.set(path, () => resolve(`content of ${path}`)));
  };
  const release = async (path: string): Promise<void> => {
    const door = doors.get(path);
    if (door === undefined) throw new TypeError(`${path} has not started: ${started.join()}`);
    door();
    await nextTick();
    await nextTick();
  };
  return { started, release, tools: { read_file: run, write_file: run } };
}

t.test('results stand in order of the answer, whoever finishes first', async (t) => {
  const { started, release, tools } = heldTools();
  const calls = ['slow', 'quick', 'third'].map((path) => ['read_file', { path }] as const);
  const { played } = startTurn({ tools, steps: [asks(...calls), says('Done.')] });
  await nextTick();
  t.same(started, ['slow', 'quick', 'third'], 'reads run side by side');
  await release('third');
  await release('quick');
  await release('slow');
  const { results, provider } = await played;
  const expected = ['content of slow', 'content of quick', 'content of third'];
  t.same(
    results.map((result) => result.content),
    expected,
    'in the history of the next turn',
  );
  const sent = provider.requests[1]?.messages.filter((message) => message.role === 'tool');
  t.same(
    sent?.map((result) => result.content),
    expected,
    'in the next request',
  );
});

t.test('a write waits for the reads before it, and what follows waits for the write', async (t) => {
  const { started, release, tools } = heldTools();
  const { played } = startTurn({
    tools,
    steps: [
      asks(
        ['read_file', { path: 'r1' }],
        ['read_file', { path: 'r2' }],
        ['write_file', { path: 'w1' }],
        ['write_file', { path: 'w2' }],
        ['read_file', { path: 'r3' }],
      ),
      says('Done.'),
    ],
  });
  await nextTick();
  t.same(started, ['r1', 'r2']);
  await release('r2');
  t.same(started, ['r1', 'r2']);
  await release('r1');
  t.same(started, ['r1', 'r2', 'w1']);
  await release('w1');
  t.same(started, ['r1', 'r2', 'w1', 'w2']);
  await release('w2');
  await release('r3');
  t.equal((await played).outcome.status, 'completed');
});

t.test('no more calls run at once than the limit allows', async (t) => {
  const calls = Array.from({ length: 9 }, (_, index) => ['read_file', { path: `f${index}` }] as const);
  const tools = { read_file: () => nextTick('text') };
  const { link, results } = await playTurn({
    tools,
    steps: [asks(...calls), says('Done.')],
    limits: { parallel_calls: 3 },
  });
  t.equal(link.peak, 3);
  t.equal(results.length, 9);
  const alone = await playTurn({
    tools,
    steps: [asks(...calls), says('Done.')],
    limits: { parallel_calls: 0 },
  });
  t.equal(alone.link.peak, 1);
});

t.test('a call that fails, is denied or does not exist leaves the others alone', async (t) => {
  const { results, outcome, link } = await playTurn({
    tools: {
      read_file: async (request) => {
        if (request.arguments.path === 'slow') await nextTick();
        if (request.arguments.path === 'broken') return { content: { error: 'exit 1' }, is_error: true };
        return `content of ${String(request.arguments.path)}`;
      },
    },
    steps: [
      asks(
        ['read_file', { path: 'slow' }],
        ['read_file', { path: 'quick' }],
        ['read_file', { path: 'broken' }],
        ['plan_get', {}],
        ['no_such_tool', {}],
      ),
      says('Done.'),
    ],
  });
  t.same(
    results.map((result) => [result.name, result.is_error]),
    [
      ['read_file', false],
      ['read_file', false],
      ['read_file', true],
      ['plan.get', true],
      ['no_such_tool', true],
    ],
  );
  t.match(results[4]?.content, {
    error: /no tool "no_such_tool".*read_file, write_file, status, plan_get/,
  });
  t.equal(outcome.tool_calls, 4);
  t.same(link.told('invalid_call').length, 1);
});

t.test('after a cancel no further call starts, and each call still gets its one result', async (t) => {
  const { release, tools } = heldTools();
  const running = startTurn({
    tools,
    steps: [asks(['write_file', { path: 'a' }], ['write_file', { path: 'b' }], ['read_file', { path: 'c' }])],
  });
  await nextTick();
  running.link.end('cancel');
  let over = false;
  running.played.then(() => {
    over = true;
  }, t.fail);
  await nextTick();
  t.notOk(over, 'the call that runs is waited for');
  await release('a');
  const { outcome, results, link } = await running.played;
  t.match(outcome, { status: 'cancelled', tool_calls: 1 });
  t.equal(link.requests.length, 1);
  t.same(
    results.map((result) => result.content),
    ['content of a', { error: 'not started' }, { error: 'not started' }],
    'the call that ran reports what it did',
  );
});

t.test('arguments that cannot be read are not run; the model is told where they break', async (t) => {
  const cases = [
    ['{"command":"rm -rf /tmp/x', /end too early, at character 25/],
    ["{'a':1}", /unexpected text at character 1 of 7/],
    ['{"path":"a"} and then some', /unexpected text at character 13/],
    ['{"path":"a",}', /unexpected text at character 12/],
    ['[1]', /one JSON object, not an array/],
    ['null', /not null/],
    ['"text"', /not a string/],
    ['', /needs arguments/],
    [`${'{"a":'.repeat(150)}1${'}'.repeat(150)}`, /nest deeper/],
    [`${'['.repeat(20_000)}${']'.repeat(20_000)}`, /not an array/],
  ] as const;
  for (const [text, expected] of cases) {
    const { link, results, outcome, provider } = await playTurn({
      tools: { read_file: () => 'must not run' },
      steps: [asks(['read_file', text]), says('Sorry.')],
    });
    t.equal(link.requests.length, 0, `${text.slice(0, 30)} is not run`);
    t.match(results[0], { is_error: true, content: { error: expected } });
    t.match(provider.requests[1]?.messages.at(-2), { calls: [{ name: 'read_file', arguments: {} }] });
    t.equal(outcome.status, 'completed', 'the turn goes on');
  }
});

t.test('no arguments at all are an empty object, for a tool that needs none', async (t) => {
  const { link } = await playTurn({
    tools: { 'plan.get': () => 'plan' },
    steps: [asks(['plan_get', ''], ['plan_get', ' \n']), says('Done.')],
  });
  t.same(
    link.requests.map((request) => request.arguments),
    [{}, {}],
  );
});

t.test('large arguments and half characters inside them are run as one would read them', async (t) => {
  const content = 'é'.repeat(200_000);
  const { link } = await playTurn({
    tools: { write_file: () => 'written' },
    steps: [
      asks(['write_file', { path: 'a', content }], ['write_file', '{"path":"\\ud83d"}']),
      says('Done.'),
    ],
  });
  t.equal(link.requests[0]?.arguments.content, content);
  t.equal(link.requests[1]?.arguments.path, '\ufffd');
});

t.test('calls of an answer that the output limit cut are not run', async (t) => {
  const cut = answer({
    stop: 'length',
    calls: [
      { provider_id: 'x', wire_name: 'write_file', arguments_text: '{"path":"a"}' },
      { provider_id: 'x', wire_name: 'write_file', arguments_text: '{"path":' },
    ],
  });
  const { link, results } = await playTurn({
    tools: { write_file: () => 'no' },
    steps: [cut, says('Done.')],
  });
  t.equal(link.requests.length, 0);
  for (const result of results)
    t.match(result, { is_error: true, content: { error: /cut by the output limit/ } });
});

t.test('a model that sends nothing but invalid calls fails after five rounds', async (t) => {
  const steps = Array.from({ length: 5 }, (_, index) =>
    asks(['read_file', `{broken ${index}`], ['nope', {}]),
  );
  const { outcome, results } = await playTurn({ steps });
  t.match(outcome, { status: 'failed', error: { code: 'invalid_tool_calls' }, rounds: 5, tool_calls: 0 });
  t.equal(results.length, 10);
  const one = answer({
    stop: 'length',
    calls: [{ provider_id: '', wire_name: 'read_file', arguments_text: '{' }],
  });
  const cut = await playTurn({ steps: [one, one, one, one, one] });
  t.match(cut.outcome, { status: 'failed', error: { code: 'output_truncated' } });
});

t.test('arguments that do not fit the tool count as invalid calls too', async (t) => {
  const refused = () => ({ content: { error: 'invalid arguments: path: not a string' }, is_error: true });
  const steps = Array.from({ length: 5 }, (_, index) => asks(['read_file', { path: index }], ['nope', {}]));
  const { outcome } = await playTurn({
    tools: { read_file: () => ({ ...refused(), invalid: true as const }) },
    steps,
  });
  t.match(outcome, { status: 'failed', error: { code: 'invalid_tool_calls' }, rounds: 5 });
  const failing = await playTurn({ tools: { read_file: refused }, steps: [...steps, says('Done.')] });
  t.equal(failing.outcome.status, 'completed', 'a tool that fails is something else');
});

t.test('one good call among the invalid ones starts the count anew', async (t) => {
  const bad = asks(['read_file', '{']);
  const good = asks(['read_file', { path: 'a' }], ['read_file', '{']);
  const { outcome } = await playTurn({
    tools: { read_file: () => 'text' },
    steps: [bad, bad, bad, bad, good, bad, bad, bad, bad, says('Done.')],
  });
  t.equal(outcome.status, 'completed');
});

t.test('made-up tool names are stored so that every provider takes them back', async (t) => {
  const names = ['a.b/c', 'x'.repeat(90), '名前', '', 'half \ud83d'];
  const { provider } = await playTurn({
    steps: [asks(...names.map((name) => [name, {}] as const)), says('Done.')],
  });
  const calls =
    provider.requests[1]?.messages.flatMap((message) =>
      message.role === 'assistant' ? message.calls : [],
    ) ?? [];
  t.equal(calls.length, names.length);
  for (const call of calls) t.match(call.name, /^[A-Za-z0-9_-]{1,64}$/);
});
