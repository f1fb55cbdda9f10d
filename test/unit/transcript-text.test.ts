// Text that can be sent, cuts between characters, and what a text costs in tokens.
import t from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { JsonValue } from '../../shared/json.js';
import { estimateRequest, estimateTokens } from '../../shared/transcript/estimate-tokens.js';
import type { Message } from '../../shared/transcript/message.js';
import { cutText, mapJsonText, sendableText, wellFormed } from '../../shared/transcript/unicode.js';

t.test('half characters and NULs are replaced, everything else stays', async (t) => {
  t.equal(wellFormed('a\ud83d'), 'a\ufffd');
  t.equal(wellFormed('😀\0'), '😀\0');
  t.equal(sendableText('😀\0\udc00'), '😀\ufffd\ufffd');
  const value = { a: ['ok', { b: 1 }], c: null };
  t.equal(mapJsonText(value, sendableText), value);
  t.same(mapJsonText({ 'k\ud83d': ['\0'] }, sendableText), { 'k\ufffd': ['\ufffd'] });
});

t.test('JSON that nests without end does not exhaust the stack', async (t) => {
  let deep: JsonValue = 'bottom';
  for (let level = 0; level < 50_000; level += 1) deep = [deep];
  t.match(JSON.stringify(mapJsonText(deep, sendableText)), /nested too deep/);
});

t.test('a cut falls between two characters and within its bytes', async (t) => {
  const texts = [
    'aaaa😀tail',
    'éééé',
    '日本語',
    `${'a'.repeat(9)}👩‍👩‍👧b`,
    `e${'\u0301'.repeat(40)}`,
    '👍🏽👍🏽',
    '\ud83d\ud83d\ud83d',
  ];
  for (const text of texts) {
    for (let bytes = 0; bytes <= Buffer.byteLength(text) + 1; bytes += 1) {
      const cut = cutText(text, bytes);
      t.ok(text.startsWith(cut) && Buffer.byteLength(cut) <= bytes, `${JSON.stringify(text)} at ${bytes}`);
      t.ok(cut.isWellFormed() || !text.isWellFormed());
      if (bytes >= Buffer.byteLength(text)) t.equal(cut, text);
    }
  }
  t.equal(cutText('aaaa😀', 7), 'aaaa');
  t.equal(cutText('👍🏽👍🏽', 12), '👍🏽', 'a skin tone stays with its hand');
  t.equal(cutText(`${'a'.repeat(9)}👩‍👩‍👧b`, 20), 'a'.repeat(9), 'a family is not torn apart');
});

t.test('the estimate follows the kind of text', async (t) => {
  t.equal(estimateTokens(''), 0);
  t.equal(estimateTokens('plain words of an english sentence '.repeat(10)), 88);
  t.equal(estimateTokens('日本語'), 3);
  t.ok(estimateTokens('{"a":1,"b":[2,3]}') > 17 / 4, 'data costs more than prose');
  const started = systemClock.monotonic();
  estimateTokens('a'.repeat(5_000_000));
  t.ok(systemClock.monotonic() - started < 2_000, 'linear, whatever the text');
});

t.test('the estimate of a request counts prompt, messages and tools', async (t) => {
  const tool = {
    name: 'a',
    wire_name: 'a',
    description: 'd'.repeat(400),
    input_schema: {},
    runs: 'worker',
    read_only: true,
    polls: false,
  } as const;
  const bare = estimateRequest('p'.repeat(400), [], []);
  t.equal(bare, 100);
  t.ok(estimateRequest('', [], [tool]) > 100);
  const messages: Message[] = [
    { role: 'user', text: 'u'.repeat(400) },
    {
      role: 'assistant',
      text: '',
      calls: [{ call_id: 'a', name: 'read_file', arguments: { text: 'x'.repeat(400) } }],
    },
    { role: 'tool', call_id: 'a', name: 'read_file', content: { out: 'y'.repeat(400) }, is_error: false },
  ];
  const full = estimateRequest('', messages, []);
  t.ok(full > 300 && full < 400, `${full}`);
});
