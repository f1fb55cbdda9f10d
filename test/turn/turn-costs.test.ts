// Budget admission, what a failed call costs, and the end that the model itself declares. The real loop in process.
import t from 'tap';
import type { Message } from '../../shared/transcript/message.js';
import { playTurn, startTurn } from '../fakes/played-turn.js';
import { answer, asks, says } from '../fakes/scripted-provider.js';

const tools = { read_file: () => 'text', write_file: () => 'written', finish: () => 'noted' };

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
  'a failed call is charged at what is known, else estimated if it broke off in mid-answer',
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

t.test('who finishes without a word has answered with what was said last in this turn', async (t) => {
  const messages: Message[] = [
    { role: 'user', text: 'Before.' },
    { role: 'assistant', text: 'Of an earlier turn.', calls: [] },
    { role: 'user', text: 'And now?' },
  ];
  const { outcome } = await playTurn({
    tools,
    snapshot: { messages },
    steps: [
      answer({
        text: 'The answer is 42.',
        calls: [{ provider_id: 'x', wire_name: 'write_file', arguments_text: '{"path":"a"}' }],
      }),
      asks(['finish', { status: 'completed' }]),
    ],
  });
  t.match(outcome, { status: 'completed', reply: 'The answer is 42.' });
  const silent = await playTurn({
    tools,
    snapshot: { messages },
    steps: [asks(['finish', { status: 'completed' }])],
  });
  t.equal(silent.outcome.reply, '');
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
