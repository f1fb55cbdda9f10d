// The guards of a round and the ends from outside, with the real loop in process.
import t from 'tap';
import { playTurn, startTurn } from '../fakes/played-turn.js';
import { answer, asks, hangs, says } from '../fakes/scripted-provider.js';

const tools = {
  read_file: () => 'text',
  write_file: () => 'written',
  status: () => 'busy',
  finish: () => 'noted',
};

t.test('an answer without calls is the reply, and completes the turn', async (t) => {
  const { outcome, link, provider } = await playTurn({ steps: [says('Hello.')] });
  t.match(outcome, { status: 'completed', reply: 'Hello.', rounds: 1, tool_calls: 0 });
  t.equal(provider.unused, 0);
  t.same(
    link.events.map((event) => event.event),
    ['round', 'delta', 'usage', 'assistant'],
  );
  t.equal(
    link.told('delta')[0]?.item_id,
    link.told('assistant')[0]?.item_id,
    'the deltas are of the item that follows',
  );
});

t.test('calls are run and their results go to the model, until it answers', async (t) => {
  const { outcome, provider, link } = await playTurn({
    tools,
    steps: [
      asks(['read_file', { path: 'a' }]),
      asks(['write_file', { path: 'b' }], ['plan_get', {}]),
      says('Done.'),
    ],
  });
  t.match(outcome, { status: 'completed', reply: 'Done.', rounds: 3, tool_calls: 3 });
  t.match(provider.requests[1]?.messages.slice(-2), [
    { role: 'assistant', calls: [{ name: 'read_file', arguments: { path: 'a' } }] },
    { role: 'tool', content: 'text', is_error: false },
  ]);
  t.same(
    link.requests.map(({ tool, index, round }) => [tool, index, round]),
    [
      ['read_file', 0, 1],
      ['write_file', 1, 2],
      ['plan.get', 2, 2],
    ],
    'the supervisor is asked by real names, and counts through the whole turn',
  );
  t.equal(
    new Set(link.requests.map((request) => request.call_id)).size,
    3,
    'ids are ours, not the provider’s',
  );
  const at = link.journal.findIndex((event) => event.kind === 'assistant_message');
  t.equal(link.journal[at + 1]?.kind, 'tool_result', 'the answer is journaled before its calls run');
});

t.test('a cancel stops a model call in flight, at once', async (t) => {
  const { link, played, clock } = startTurn({ steps: [hangs('Let me ')] });
  await clock.advance(0);
  link.end('cancel');
  const { outcome, journal } = await played;
  t.match(outcome, { status: 'cancelled', error: { code: 'cancelled' }, reply: '', rounds: 1 });
  t.match(
    link.told('usage')[0]?.usage,
    { estimated: true },
    'the call that was cut off is charged at its estimate',
  );
  t.ok((link.told('usage')[0]?.usage.input_tokens ?? 0) > 0);
  t.notOk(
    journal.some((event) => event.kind === 'assistant_message'),
    'half an answer is not stored',
  );
});

t.test('a cancel between rounds ends the turn before the next model call', async (t) => {
  const { link, played, provider } = startTurn({
    tools: {
      ...tools,
      read_file() {
        link.end('cancel');
        return 'text';
      },
    },
    steps: [asks(['read_file', { path: 'a' }]), says('never')],
  });
  t.match((await played).outcome, { status: 'cancelled', tool_calls: 1 });
  t.equal(provider.requests.length, 1);
});

t.test('the reason of the supervisor decides between cancelled and deadline', async (t) => {
  for (const [reason, status] of [
    ['cancel', 'cancelled'],
    ['operator', 'cancelled'],
    ['drain', 'cancelled'],
    ['deadline', 'deadline'],
  ] as const) {
    const { link, played, clock } = startTurn({ steps: [hangs()] });
    await clock.advance(0);
    link.end(reason);
    t.equal((await played).outcome.status, status, reason);
  }
});

t.test('the deadline bounds the model call in flight', async (t) => {
  const { clock, played, provider } = startTurn({ steps: [hangs()], limits: { deadline_ms: 5_000 } });
  await clock.advance(4_999);
  t.equal(provider.requests[0]?.deadline_ms, 5_000);
  await clock.advance(1);
  t.match((await played).outcome, { status: 'deadline', error: { code: 'deadline' } });
});

t.test('the deadline bounds a tool, which has a moment to report what it did', async (t) => {
  const { clock, played, link } = startTurn({
    tools: { write_file: () => new Promise(() => undefined) },
    steps: [asks(['write_file', { path: 'a' }], ['write_file', { path: 'b' }])],
    limits: { deadline_ms: 5_000 },
  });
  await clock.advance(5_000);
  await clock.advance(2_000);
  const { outcome, results } = await played;
  t.equal(outcome.status, 'deadline');
  t.equal(link.requests.length, 1, 'nothing is started after the deadline');
  t.same(
    results.map((result) => result.content),
    [{ error: 'interrupted, effect unknown' }, { error: 'not started' }],
  );
});

t.test('a turn whose deadline has passed calls no model', async (t) => {
  const { outcome, provider } = await playTurn({ steps: [], limits: { deadline_ms: 0 } });
  t.equal(outcome.status, 'deadline');
  t.equal(provider.requests.length, 0);
});

t.test('rounds run out', async (t) => {
  const { outcome } = await playTurn({
    tools,
    steps: [asks(['read_file', { path: 'a' }]), asks(['read_file', { path: 'b' }])],
    limits: { rounds: 2 },
  });
  t.match(outcome, {
    status: 'exhausted_steps',
    error: { code: 'exhausted_steps' },
    rounds: 2,
    tool_calls: 2,
  });
});

t.test('tokens run out, by the provider’s own count', async (t) => {
  const { outcome, link } = await playTurn({
    tools,
    steps: [asks(['read_file', { path: 'a' }]), asks(['read_file', { path: 'b' }])],
    limits: { tokens: 240 },
  });
  t.match(outcome, { status: 'exhausted_tokens', rounds: 2 });
  t.equal(link.told('usage').length, 2);
});

t.test('a model that gives no numbers is charged at an estimate, and that counts', async (t) => {
  const { outcome, link } = await playTurn({
    tools,
    steps: [
      answer({
        calls: [{ provider_id: '', wire_name: 'read_file', arguments_text: '{"path":"a"}' }],
        usage: null,
      }),
    ],
    limits: { tokens: 20 },
  });
  t.equal(outcome.status, 'exhausted_tokens');
  t.match(link.told('usage')[0]?.usage, { estimated: true });
});

t.test('guards stand in their order: cancelled, deadline, rounds, tokens', async (t) => {
  const late = { deadline_ms: 0, rounds: 0, tokens: 0 };
  t.equal((await playTurn({ steps: [], limits: late, endFirst: 'cancel' })).outcome.status, 'cancelled');
  t.equal((await playTurn({ steps: [], limits: late })).outcome.status, 'deadline');
  t.equal(
    (await playTurn({ steps: [], limits: { rounds: 0, tokens: 0 } })).outcome.status,
    'exhausted_steps',
  );
  t.equal((await playTurn({ steps: [], limits: { tokens: 0 } })).outcome.status, 'exhausted_tokens');
});
