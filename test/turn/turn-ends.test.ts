// The guards of a round and the eight ends of a turn, with the real loop in process.
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

t.test('a budget that says wait is asked again, and its stop is a code', async (t) => {
  const waiting = startTurn({
    steps: [says('Hello.')],
    snapshot: { budget_admission: true },
    budget: [
      { kind: 'wait', wait_ms: 3_000 },
      { kind: 'wait', wait_ms: 0 },
      { kind: 'go', model: 'cheaper' },
    ],
  });
  await waiting.clock.advance(2_999);
  t.equal(waiting.link.estimates.length, 1);
  await waiting.clock.advance(1);
  t.equal(waiting.link.estimates.length, 2);
  await waiting.clock.advance(49);
  t.equal(waiting.link.estimates.length, 2, 'no spinning');
  await waiting.clock.advance(1);
  t.equal((await waiting.played).outcome.status, 'completed');
  t.equal(waiting.provider.requests[0]?.settings.model, 'cheaper');
  t.ok((waiting.link.estimates[0] ?? 0) > 4_096, 'the estimate holds room for the answer');
  for (const code of ['refused', 'exhausted_tokens'] as const) {
    const { outcome, provider } = await playTurn({
      steps: [],
      snapshot: { budget_admission: true },
      budget: [{ kind: 'stop', code, reason: 'the budget of today is spent' }],
    });
    t.match(outcome, { status: code, error: { code, message: 'the budget of today is spent' }, rounds: 0 });
    t.equal(provider.requests.length, 0);
  }
});

t.test('a cancel ends a budget wait, and a question that nobody answers', async (t) => {
  const budgets = [[{ kind: 'wait', wait_ms: 60_000 } as const], []];
  for (const budget of budgets) {
    const { clock, link, played } = startTurn({ steps: [], snapshot: { budget_admission: true }, budget });
    await clock.advance(10);
    link.end('cancel');
    t.equal((await played).outcome.status, 'cancelled');
  }
});

t.test('later estimates follow what the provider counted', async (t) => {
  const { link } = await playTurn({
    tools,
    snapshot: { budget_admission: true, system_prompt: 'word '.repeat(2_000) },
    steps: [
      answer({
        calls: [{ provider_id: '', wire_name: 'read_file', arguments_text: '{"path":"a"}' }],
        usage: { input_tokens: 6_000, output_tokens: 1, cached_tokens: 0, estimated: false },
      }),
      says('Done.'),
    ],
  });
  const [first = 0, second = 0] = link.estimates.map((estimate) => estimate - 4_096);
  t.ok(first < 4_000 && second > 5_900, `${first} then ${second}`);
});

t.test('an endpoint that fails ends the turn with its own code and sentence', async (t) => {
  const { outcome, link } = await playTurn({
    steps: [{ kind: 'failed', code: 'model_rate_limited', message: 'come back in 90 s', charged: null }],
  });
  t.match(outcome, { status: 'failed', error: { code: 'model_rate_limited', message: 'come back in 90 s' } });
  t.match(link.told('usage')[0]?.usage, { input_tokens: 0, output_tokens: 0 }, 'it cost nothing');
});

t.test(
  'a failed call is charged: at what is known, or at an estimate when it broke off while it wrote',
  async (t) => {
    const charged = { input_tokens: 7, output_tokens: 3, cached_tokens: 0, estimated: false };
    const known = await playTurn({
      steps: [{ kind: 'failed', code: 'model_unreachable', message: 'gone', charged }],
    });
    t.match(known.link.told('usage')[0]?.usage, charged);
    const broken = await playTurn({
      steps: [
        (_request, tell) => {
          tell({ kind: 'text', text: 'Once upon a time' });
          return { kind: 'failed', code: 'model_unreachable', message: 'gone', charged: null };
        },
      ],
    });
    t.match(broken.link.told('usage')[0]?.usage, { output_tokens: 4, estimated: true });
  },
);

t.test('finish ends the turn after every call of its round has run', async (t) => {
  const { outcome, link, provider } = await playTurn({
    tools,
    steps: [
      asks(
        ['write_file', { path: 'a' }],
        ['finish', { status: 'completed', output: 'All good.' }],
        ['write_file', { path: 'b' }],
      ),
    ],
  });
  t.match(outcome, {
    status: 'completed',
    reply: 'All good.',
    finish: { status: 'completed', output: 'All good.' },
  });
  t.same(
    link.requests.map((request) => request.tool),
    ['write_file', 'finish', 'write_file'],
  );
  t.equal(provider.requests.length, 1);
});

t.test('finish says how the turn ended', async (t) => {
  const cases = [
    [{ status: 'completed' }, { status: 'completed', reply: '' }],
    [{}, { status: 'completed' }],
    [
      { status: 'completed', output: { n: 1 } },
      { status: 'completed', reply: '{"n":1}' },
    ],
    [
      { status: 'refused', reason: 'not mine' },
      { status: 'refused', error: { code: 'refused', message: 'not mine' } },
    ],
    [
      { status: 'failed', output: 'broke' },
      { status: 'failed', reply: 'broke', error: { code: 'finished_failed', message: 'broke' } },
    ],
    [{ status: 'cancelled' }, { status: 'cancelled', error: { code: 'cancelled' } }],
  ] as const;
  for (const [args, expected] of cases) {
    const { outcome } = await playTurn({ tools, steps: [asks(['finish', args])] });
    t.match(outcome, expected, JSON.stringify(args));
  }
});

t.test('text beside finish is the reply; a finish that failed does not end the turn', async (t) => {
  const spoken = answer({
    text: 'Here you are.',
    calls: [{ provider_id: 'x', wire_name: 'finish', arguments_text: '{"output":"ignored"}' }],
  });
  t.match((await playTurn({ tools, steps: [spoken] })).outcome, {
    status: 'completed',
    reply: 'Here you are.',
  });
  const refused = await playTurn({
    steps: [asks(['finish', { status: 'sideways' }]), says('Then in words.')],
  });
  t.match(refused.outcome, { status: 'completed', reply: 'Then in words.' });
  t.equal(refused.outcome.finish, undefined);
});
