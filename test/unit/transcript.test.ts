// Histories that providers accept, whatever was stored: pairs, order, ids, emptiness, Unicode.
import t from 'tap';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonValue } from '../../shared/json.js';
import { messagesOf } from '../../shared/transcript/from-journal.js';
import type { Message, ToolCall } from '../../shared/transcript/message.js';
import { repairHistory } from '../../shared/transcript/repair.js';
import { brokenHistory } from '../fakes/history-rules.js';

const user = (text: string): Message => ({ role: 'user', text });
const call = (callId: string, name = 'read_file'): ToolCall => ({ call_id: callId, name, arguments: {} });
const assistant = (text: string, ...calls: ToolCall[]): Message => ({ role: 'assistant', text, calls });
const result = (callId: string, content: JsonValue, name = 'read_file'): Message => ({
  role: 'tool',
  call_id: callId,
  name,
  content,
  is_error: false,
});

t.test('results move behind their calls, in order of the calls', async (t) => {
  const messages = [
    user('go'),
    assistant('', call('a'), call('b'), call('c')),
    result('c', 'third'),
    { role: 'note', text: 'remark' } as const,
    result('a', 'first'),
    user('are you there?'),
    result('b', 'second'),
  ];
  t.match(repairHistory(messages), [
    { role: 'user' },
    { role: 'assistant' },
    { content: 'first' },
    { content: 'second' },
    { content: 'third' },
    { role: 'note' },
    { role: 'user' },
  ]);
});

t.test('a missing result becomes a stub, a second one and one without a call are left out', async (t) => {
  const messages = [
    user('go'),
    assistant('', call('a'), call('b')),
    result('b', 'real'),
    result('b', 'double'),
    result('z', 'orphan'),
  ];
  t.match(repairHistory(messages).slice(2), [
    { call_id: 'a', content: { error: 'interrupted, effect unknown' }, is_error: true },
    { call_id: 'b', content: 'real' },
  ]);
  t.equal(repairHistory(messages).length, 4);
});

t.test('ids that are empty or used twice are replaced, with each result at its own call', async (t) => {
  const messages = [
    user('go'),
    assistant('', call('a', 'one'), call('a', 'two')),
    result('a', 'of one', 'one'),
    result('a', 'of two', 'two'),
    assistant('', call('', 'three')),
    result('', 'of three', 'three'),
    assistant('', call('a', 'four')),
    result('a', 'of four', 'four'),
  ];
  const repaired = repairHistory(messages);
  t.same(brokenHistory(repaired), []);
  const pairs = repaired.flatMap((message) =>
    message.role === 'tool' ? [[message.name, message.content]] : [],
  );
  t.same(pairs, [
    ['one', 'of one'],
    ['two', 'of two'],
    ['three', 'of three'],
    ['four', 'of four'],
  ]);
});

t.test('a result of an id that was used before belongs to the nearest call that waits for one', async (t) => {
  const messages = [user('go'), assistant('', call('a', 'lost')), assistant('', call('a', 'late'))];
  const contents = (history: readonly Message[]) =>
    repairHistory(history).flatMap((message) => (message.role === 'tool' ? [message.content] : []));
  const stub = { error: 'interrupted, effect unknown' };
  t.same(contents([...messages, result('a', 'first')]), [stub, 'first']);
  t.same(contents([...messages, result('a', 'first'), result('a', 'second')]), ['second', 'first']);
});

t.test('what is empty is left out or said in words', async (t) => {
  const messages = [
    user('go'),
    assistant(' \n'),
    assistant('\t', call('a')),
    result('a', ' '),
    user(''),
    { role: 'note', text: '' } as const,
  ];
  t.match(repairHistory(messages), [
    { role: 'user', text: 'go' },
    { role: 'assistant', text: '', calls: [{ call_id: 'a' }] },
    { role: 'tool', content: '(no output)' },
    { role: 'user', text: '(empty message)' },
  ]);
});

t.test('a history that starts with an answer gets a beginning', async (t) => {
  const repaired = repairHistory([{ role: 'note', text: 'n' }, assistant('hello'), user('go')]);
  t.match(repaired[1], { role: 'user', text: /not shown/ });
});

t.test('a healthy history is passed on as it is, without copies', async (t) => {
  const content = { big: 'x'.repeat(1_000) };
  const messages = [user('go'), assistant('text', call('a')), result('a', content)];
  const repaired = repairHistory(messages);
  t.ok(repaired.every((message, index) => message === messages[index]));
});

t.test('the journal of a thread reads as its transcript', async (t) => {
  const events: JournalEvent[] = [
    { kind: 'user_message', item_id: 'i1', text: 'go', principal: 'operator' },
    {
      kind: 'usage',
      call_index: 1,
      model: 'm',
      usage: { input_tokens: 1, output_tokens: 1, cached_tokens: 0, estimated: false },
    },
    {
      kind: 'assistant_message',
      item_id: 'i2',
      round: 1,
      text: '',
      calls: [call('a'), call('b')],
      stop: 'tool_calls',
      model: 'm',
    },
    {
      kind: 'tool_intent',
      call_id: 'a',
      round: 1,
      index: 0,
      tool: 'read_file',
      arguments: {},
      verdict: 'allow',
      reason: 'mode',
      runs: 'worker',
    },
    {
      kind: 'tool_result',
      call_id: 'b',
      tool: 'read_file',
      content: 'B',
      is_error: true,
      end: 'denied',
      duration_ms: 0,
    },
    {
      kind: 'tool_result',
      call_id: 'a',
      tool: 'read_file',
      content: { head: 'A' },
      is_error: false,
      end: 'done',
      artifact_id: 'art',
      duration_ms: 1,
    },
    { kind: 'note', text: 'turn ended with status cancelled' },
    { kind: 'turn_ended', status: 'cancelled', reply: '' },
    { kind: 'user_message', item_id: 'i3', text: 'again', principal: 'operator' },
  ];
  t.strictSame(repairHistory(messagesOf(events)), [
    user('go'),
    assistant('', call('a'), call('b')),
    result('a', { head: 'A', artifact_id: 'art' }),
    { ...result('b', 'B'), is_error: true },
    { role: 'note', text: 'turn ended with status cancelled' },
    user('again'),
  ]);
});
