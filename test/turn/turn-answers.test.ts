// What counts as an answer: empty, cut, refused, retried, unreadable. The real loop in process.
import t from 'tap';
import { playTurn, SETTINGS } from '../fakes/played-turn.js';
import { answer, asks, type ModelStep, says } from '../fakes/scripted-provider.js';

const tools = { read_file: () => 'text', finish: () => 'noted' };

t.test('a blank or thinking-only answer is asked for once more, and is never stored', async (t) => {
  for (const blank of ['', '\n', ' \t\u00a0 ']) {
    const thinking = answer({ text: blank, reasoning: [{ thought: 'hm' }] });
    const { outcome, link, provider } = await playTurn({ steps: [thinking, says('Hello.')] });
    t.match(outcome, { status: 'completed', reply: 'Hello.', rounds: 2 });
    t.match(link.told('note')[0]?.text, /no text/);
    t.equal(provider.requests[1]?.messages.at(-1)?.role, 'note', 'the model is told');
    t.equal(link.told('assistant').length, 1);
  }
});

t.test('a second empty answer fails the turn as empty_reply', async (t) => {
  const { outcome } = await playTurn({ steps: [says('\n'), answer({ reasoning: ['hm'] })] });
  t.match(outcome, { status: 'failed', reply: '', error: { code: 'empty_reply' } });
});

t.test('an empty answer after real work has its own retry', async (t) => {
  const { outcome } = await playTurn({
    tools,
    steps: [says(''), asks(['read_file', { path: 'a' }]), says(''), says('Done.')],
  });
  t.match(outcome, { status: 'completed', reply: 'Done.' });
});

t.test('a call beside blank text is stored without the text', async (t) => {
  const { link } = await playTurn({
    tools,
    steps: [
      answer({
        text: ' \n',
        calls: [{ provider_id: '', wire_name: 'read_file', arguments_text: '{"path":"a"}' }],
      }),
      says('Done.'),
    ],
  });
  t.equal(link.told('assistant')[0]?.text, '');
});

t.test('an empty result is a result', async (t) => {
  const { provider } = await playTurn({
    tools: { read_file: () => '' },
    steps: [asks(['read_file', { path: 'a' }]), says('Done.')],
  });
  t.match(provider.requests[1]?.messages.at(-1), { role: 'tool', content: '(no output)' });
});

t.test('a cut answer is continued, and the reply is the whole of it', async (t) => {
  const { outcome, provider } = await playTurn({
    steps: [
      answer({ text: 'One, two', stop: 'length' }),
      answer({ text: ', three', stop: 'length' }),
      says(', four.'),
    ],
  });
  t.match(outcome, { status: 'completed', reply: 'One, two, three, four.', rounds: 3 });
  t.match(provider.requests[1]?.messages.slice(-2), [
    { role: 'assistant', text: 'One, two' },
    { role: 'note' },
  ]);
});

t.test('an answer that is cut again and again fails, and keeps its text', async (t) => {
  const cut = (text: string): ModelStep => answer({ text, stop: 'length' });
  const { outcome } = await playTurn({ steps: [cut('a'), cut('b'), cut('c')] });
  t.match(outcome, { status: 'failed', reply: 'abc', error: { code: 'output_truncated' } });
  const thinking = await playTurn({ steps: [cut(''), cut(''), cut('')] });
  t.match(
    thinking.outcome,
    { status: 'failed', error: { code: 'output_truncated' } },
    'all room spent on thinking',
  );
});

t.test('a model that declines has answered if it says so, and failed if it does not', async (t) => {
  const spoken = await playTurn({ steps: [answer({ text: 'I will not.', stop: 'refusal' })] });
  t.match(spoken.outcome, { status: 'completed', reply: 'I will not.' });
  const silent = await playTurn({ steps: [answer({ stop: 'refusal' })] });
  t.match(silent.outcome, { status: 'failed', error: { code: 'refused' } });
  const calls = [{ provider_id: '', wire_name: 'read_file', arguments_text: '{"path":"a"}' }];
  const broken = await playTurn({ tools, steps: [answer({ text: 'I wi', stop: 'refusal', calls })] });
  t.equal(broken.link.requests.length, 0, 'calls of an answer that was broken off are not run');
});

t.test('what a failed attempt streamed is void: the retry writes another item', async (t) => {
  const retried: ModelStep = (_request, tell) => {
    tell({ kind: 'text', text: 'Hal' });
    tell({ kind: 'retry', attempt: 1, delay_ms: 10, reason: 'the connection was reset' });
    tell({ kind: 'restart' });
    tell({ kind: 'reasoning', text: 'hm' });
    tell({ kind: 'text', text: 'Hello.' });
    return says('Hello.');
  };
  const { link, outcome } = await playTurn({ steps: [retried] });
  t.equal(outcome.reply, 'Hello.');
  const [first, second, third] = link.told('delta');
  t.not(first?.item_id, third?.item_id);
  t.equal(second?.item_id, third?.item_id, 'reasoning and text of an answer share the item');
  t.equal(third?.item_id, link.told('assistant')[0]?.item_id);
  t.match(link.told('retry_scheduled')[0], { attempt: 1, delay_ms: 10 });
});

t.test('an option that the model refused is not sent to it again', async (t) => {
  const { provider, link } = await playTurn({
    tools,
    steps: [
      (_request, tell) => {
        tell({ kind: 'option_dropped', option: 'temperature' });
        return asks(['read_file', { path: 'a' }]);
      },
      says('Done.'),
    ],
  });
  t.same(provider.requests[1]?.settings.omit, ['temperature']);
  t.equal(link.told('option_dropped').length, 1);
});

t.test('reasoning goes back to the model that wrote it, within the turn, and to nobody else', async (t) => {
  const thinking = (path: string): ModelStep =>
    answer({
      reasoning: [{ thought: path, signature: 's' }],
      calls: [{ provider_id: '', wire_name: 'read_file', arguments_text: JSON.stringify({ path }) }],
    });
  const { provider, link, history } = await playTurn({
    tools,
    snapshot: { budget_admission: true },
    budget: [{ kind: 'go' }, { kind: 'go' }, { kind: 'go', model: 'other' }],
    steps: [thinking('a'), thinking('b'), says('Done.')],
  });
  const reasoningOf = (index: number) =>
    provider.requests[index]?.messages.flatMap((message) =>
      message.role === 'assistant' ? (message.reasoning ?? []) : [],
    );
  t.same(reasoningOf(1), [{ model: SETTINGS.model, data: { thought: 'a', signature: 's' } }]);
  t.same(reasoningOf(2), [], 'another model does not get it');
  t.notMatch(JSON.stringify([link.events, history]), /thought/, 'it is never told or stored');
});

t.test('half-written reasoning of a cancelled call is nowhere', async (t) => {
  const { history } = await playTurn({
    steps: [
      (_request, tell) => {
        tell({ kind: 'reasoning', text: 'half a thou' });
        return { kind: 'timeout' };
      },
    ],
  });
  t.notMatch(JSON.stringify(history), /half a thou/);
});

t.test('half characters and NULs from a model are mended before they are stored or sent', async (t) => {
  const { outcome, history } = await playTurn({
    tools: { read_file: () => ({ text: 'half \ud83d and \0', ['key \udc00']: 1 }) },
    steps: [
      answer({
        text: 'a\ud83d',
        calls: [{ provider_id: '', wire_name: 'read_file', arguments_text: '{"path":"\\ud83d\\u0000"}' }],
      }),
      says('b\udc00\0'),
    ],
  });
  t.match(outcome, { status: 'completed', reply: 'b\ufffd\0' });
  t.match(history.at(-1), { text: 'b\ufffd\ufffd' });
});

t.test('a stored history that is broken in every way is healed before it is sent', async (t) => {
  const { outcome } = await playTurn({
    steps: [says('Hello again.')],
    snapshot: {
      messages: [
        { role: 'tool', call_id: 'gone', name: 'x', content: 'orphan', is_error: false },
        { role: 'assistant', text: ' ', calls: [] },
        {
          role: 'assistant',
          text: '\ud83d',
          calls: [
            { call_id: '', name: 'a', arguments: {} },
            { call_id: '', name: 'b', arguments: {} },
          ],
        },
        { role: 'user', text: '' },
        { role: 'tool', call_id: '', name: 'a', content: '', is_error: false },
        { role: 'user', text: 'go on' },
      ],
    },
  });
  t.equal(outcome.reply, 'Hello again.');
});
