// Histories that providers accept, whatever was stored: pairs, order, ids, emptiness, Unicode.
import assert from 'node:assert';
import t from 'tap';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { messagesOf } from '../../shared/transcript/from-journal.js';
import type { Message, ToolCall } from '../../shared/transcript/message.js';
import { repairHistory } from '../../shared/transcript/repair.js';
import { writeAnthropic } from '../../worker/models/anthropic-request.js';
import { writeOpenai } from '../../worker/models/openai-request.js';
import type { ModelRequest } from '../../worker/models/provider.js';
import { brokenHistory } from '../fakes/history-rules.js';
import { brokenRules } from '../fakes/model-request-rules.js';
import type { FakeRequest } from '../fakes/model-steps.js';
import { SETTINGS, TOOLS } from '../fakes/played-turn.js';

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

/** Small, fast and the same in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TEXTS = ['', ' ', '\n', 'text', 'é😀', '\ud83d', 'a\udc00b', 'nul\0', '👩‍👩‍👧', 'x'.repeat(3_000)];
const IDS = ['call_1', 'call_2', 'call_3', '', 'call r!', 'call_r1', 'ü'];

/** Anything that a crash, a cut or an older version may have left. */
function anyHistory(random: (below: number) => number): Message[] {
  const one = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  return Array.from({ length: random(14) }, (): Message => {
    switch (random(6)) {
      case 0:
        return user(one(TEXTS));
      case 1:
        return { role: random(2) === 0 ? 'note' : 'system', text: one(TEXTS) };
      case 2:
      case 3: {
        const calls = Array.from({ length: random(4) }, () => ({
          call_id: one(IDS),
          name: one(['read_file', 'plan.get', '']),
          arguments: one<unknown>([
            {},
            { path: one(TEXTS), [one(TEXTS)]: [one(TEXTS)] },
            null,
            [],
            'text',
          ]) as ToolCall['arguments'],
        }));
        return assistant(one(TEXTS), ...calls);
      }
      default:
        return result(one(IDS), one<JsonValue>([one(TEXTS), null, { out: one(TEXTS) }, [], 0]));
    }
  });
}

t.test('any history at all becomes one that can be sent, and stays as it is from then on', async () => {
  const random = randomOf(7);
  for (let round = 0; round < 3_000; round += 1) {
    const messages = anyHistory(random);
    const before = JSON.stringify(messages);
    const repaired = repairHistory(messages);
    assert.deepEqual(brokenHistory(repaired), [], before);
    assert.equal(JSON.stringify(messages), before, 'the input is left alone');
    assert.deepEqual(repairHistory(repaired), repaired, 'twice is once');
  }
});

t.test('whatever was stored, both dialects write a request that their providers take', async () => {
  const random = randomOf(23);
  for (let round = 0; round < 1_500; round += 1) {
    const messages = anyHistory(random);
    const request: ModelRequest = {
      settings: SETTINGS,
      credentials: { headers: {}, mask: [] },
      system_prompt: random(2) === 0 ? 'You are a test.' : '',
      messages: repairHistory([...messages, user('go on')]),
      tools: random(2) === 0 ? TOOLS : [],
      deadline_ms: 1_000,
    };
    for (const [dialect, write] of [
      ['openai', writeOpenai],
      ['anthropic', writeAnthropic],
    ] as const) {
      const { text } = write(request, new Set());
      assert.deepEqual(brokenRules(asReceived(dialect, text)), [], `${dialect}: ${JSON.stringify(messages)}`);
    }
  }
});

/** The request as a provider gets it: bytes, decoded again. */
function asReceived(dialect: 'openai' | 'anthropic', text: string): FakeRequest {
  const bodyText = Buffer.from(text).toString('utf8');
  return {
    index: 0,
    method: 'POST',
    path: '/',
    dialect,
    headers: { 'anthropic-version': '2023-06-01' },
    bodyText,
    body: JSON.parse(bodyText) as JsonObject,
    connection: 1,
    receivedMs: 0,
    aborted: new Promise(() => undefined),
  };
}

t.test('a good history cut at any two places can be sent, and keeps every pair that is whole', async () => {
  const random = randomOf(11);
  for (let round = 0; round < 1_000; round += 1) {
    const messages: Message[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      messages.push(user(`question ${turn}`));
      const ids = Array.from({ length: 1 + random(5) }, (_, index) => `call_${turn}_${index}`);
      messages.push(assistant('', ...ids.map((id) => call(id))), ...ids.map((id) => result(id, `of ${id}`)));
      messages.push(assistant(`answer ${turn}`));
    }
    assert.deepEqual(repairHistory(messages), messages, 'a whole one needs nothing');
    const from = random(messages.length);
    const cut = messages.slice(from, from + random(messages.length));
    const repaired = repairHistory(cut);
    assert.deepEqual(brokenHistory(repaired), [], JSON.stringify(cut));
    const contentOf = (id: string, among: readonly Message[]): JsonValue | undefined =>
      among.flatMap((other) => (other.role === 'tool' && other.call_id === id ? [other.content] : []))[0];
    for (const message of cut) {
      if (message.role !== 'assistant') continue;
      for (const { call_id: id } of message.calls)
        assert.deepEqual(
          contentOf(id, repaired),
          contentOf(id, cut) ?? { error: 'interrupted, effect unknown' },
        );
    }
  }
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
