// A turn that goes on in a new process: it counts on from where it was, and asks for nothing that it was told before.
import t from 'tap';
import type { Message } from '../../shared/transcript/message.js';
import { playTurn } from '../fakes/played-turn.js';
import { asks, says } from '../fakes/scripted-provider.js';

const called = (count: number, path = 'a'): Message[] =>
  Array.from({ length: count }, (_, index): Message[] => {
    const callId = `call_${path}${index}`;
    return [
      {
        role: 'assistant',
        text: '',
        calls: [{ call_id: callId, name: 'read_file', arguments: { path } }],
      },
      { role: 'tool', call_id: callId, name: 'read_file', content: 'text', is_error: false },
    ];
  }).flat();

const after = (messages: readonly Message[], prior = {}) => ({
  messages: [{ role: 'user', text: 'go' } as const, ...messages],
  prior: { rounds: 3, tokens: 500, calls: 3, tool_calls: 3, ...prior },
});

t.test('rounds, calls and tokens go on from where they were', async (t) => {
  const { outcome, link } = await playTurn({
    snapshot: after(called(1)),
    tools: { read_file: () => 'other' },
    steps: [asks(['read_file', { path: 'b' }]), says('Done.')],
  });
  t.match(outcome, { status: 'completed', rounds: 5, tool_calls: 4 });
  t.match(link.requests, [{ index: 3, round: 4 }]);
  t.same(
    link.told('usage').map((event) => event.call_index),
    [4, 5],
  );
});

t.test('the bounds of the turn are those of all its windows', async (t) => {
  const rounds = await playTurn({ snapshot: after(called(1)), limits: { rounds: 3 }, steps: [] });
  t.match(rounds.outcome, { status: 'exhausted_steps' });
  const tokens = await playTurn({ snapshot: after(called(1)), limits: { tokens: 500 }, steps: [] });
  t.match(tokens.outcome, { status: 'exhausted_tokens' });
  const loop = await playTurn({
    snapshot: after(called(3)),
    tools: { read_file: () => 'text' },
    steps: [asks(['read_file', { path: 'a' }])],
  });
  t.match(loop.outcome, { status: 'loop_detected' });
  t.equal(loop.link.requests.length, 0, 'the fourth is not run');
});

t.test('an answer that was recorded is given, and not asked for again', async (t) => {
  const messages: Message[] = [{ role: 'assistant', text: 'The answer.', calls: [] }];
  const play = (last: object, more = {}) =>
    playTurn({ snapshot: { ...after(messages, { last }), ...more }, steps: [] });
  t.match((await play({ text: 'The answer.', stop: 'stop' })).outcome, {
    status: 'completed',
    reply: 'The answer.',
    rounds: 3,
  });
  t.match((await play({ text: 'No.', stop: 'refusal' })).outcome, { status: 'completed', reply: 'No.' });
  const finish = { status: 'failed', reason: 'no luck' };
  t.match((await play({ text: '', stop: 'tool_calls', finish })).outcome, {
    status: 'failed',
    error: { message: 'no luck' },
    finish,
  });
  const schema = { type: 'object', required: ['n'] };
  const misfit = await playTurn({
    snapshot: { ...after(messages, { last: { text: 'none', stop: 'stop' } }), output_schema: schema },
    steps: [says('{"n":1}')],
  });
  t.match(misfit.outcome, { status: 'completed', reply: '{"n":1}' });
});

t.test('an answer that was cut is continued, whenever its process was lost', async (t) => {
  const cut: Message = { role: 'assistant', text: 'One, two,', calls: [] };
  const note: Message = { role: 'note', text: 'Go on.' };
  const before = await playTurn({
    snapshot: after([cut], { unfinished: 'One, two,', last: { text: 'One, two,', stop: 'length' } }),
    steps: [says(' three.')],
  });
  t.match(before.outcome, { status: 'completed', reply: 'One, two, three.' });
  t.equal(before.link.told('note').length, 1);
  const later = await playTurn({
    snapshot: after([cut, note], { unfinished: 'One, two,' }),
    steps: [says(' three.')],
  });
  t.match(later.outcome, { status: 'completed', reply: 'One, two, three.' });
  t.equal(later.link.told('note').length, 0);
});
