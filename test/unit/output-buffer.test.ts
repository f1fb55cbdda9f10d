import t from 'tap';
import { boundedText, clipText } from '../../worker/tools/bounded-output.js';
import { OutputBuffer } from '../../worker/tools/output-buffer.js';

function pushed(limitBytes: number, ...chunks: (string | Buffer)[]): OutputBuffer {
  const buffer = new OutputBuffer(limitBytes);
  for (const chunk of chunks) buffer.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return buffer;
}

function shown(limitBytes: number, ...chunks: (string | Buffer)[]): string {
  return boundedText(pushed(limitBytes, ...chunks).kept(), limitBytes).text;
}

t.test('output within the limit is kept whole, however it was cut into chunks', async (t) => {
  const text = 'one\ntwo\nthree\n';
  for (let size = 1; size <= text.length; size += 1) {
    const chunks = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
    t.equal(shown(text.length, ...chunks), text, `in chunks of ${size}`);
  }
});

t.test('output above the limit keeps head and tail and counts what lay between', async (t) => {
  const lines = Array.from({ length: 1000 }, (_, index) => `line ${index}\n`);
  for (const size of [1, 7, 100, 100_000]) {
    const chunks = lines.join('').match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
    const kept = pushed(100, ...chunks).kept();
    const all = lines.join('');
    t.equal(kept.head.toString(), all.slice(0, 50), `head, chunks of ${size}`);
    t.equal(kept.tail.toString(), all.slice(-50), `tail, chunks of ${size}`);
    t.equal(kept.omittedBytes, all.length - 100, `bytes, chunks of ${size}`);
    t.equal(kept.omittedLines, all.slice(50, -50).split('\n').length - 1, `lines, chunks of ${size}`);
  }
});

t.test('the chunk may be used again by the caller', async (t) => {
  const chunk = Buffer.from('abc');
  const buffer = pushed(4, chunk);
  chunk.fill('x');
  t.equal(boundedText(buffer.kept(), 4).text, 'abc');
});

t.test('taking output begins anew', async (t) => {
  const buffer = pushed(10, 'first');
  t.equal(boundedText(buffer.take(), 10).text, 'first');
  t.equal(buffer.bytes, 0);
  buffer.push(Buffer.from('0123456789ABCDEF'));
  t.match(boundedText(buffer.take(), 10).text, /^01234\n.*6 bytes.*\nBCDEF$/s);
  t.equal(boundedText(buffer.take(), 10).text, '');
});

t.test('a character cut by a chunk border or by the limit never breaks', async (t) => {
  const text = 'aé€😀'.repeat(50);
  const bytes = Buffer.from(text);
  for (let size = 1; size <= 5; size += 1) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    t.equal(shown(bytes.length, ...chunks), text, `whole, in chunks of ${size} bytes`);
  }
  for (let limit = 20; limit < 60; limit += 1) {
    const cut = shown(limit, bytes);
    t.notOk(cut.includes('\ufffd'), `no broken character at a limit of ${limit}`);
    t.ok(cut.isWellFormed(), `well-formed at a limit of ${limit}`);
    const counted = Number(/(\d+) bytes/.exec(cut)?.[1]);
    const kept = Buffer.byteLength(cut.replace(/\n\[… .* …\]\n/, ''));
    t.equal(kept + counted, bytes.length, `every byte is shown or counted at a limit of ${limit}`);
  }
});

t.test('replacing broken bytes never grows the text above the limit', async (t) => {
  const latin = Buffer.from(`${'a'.repeat(10)}\xe4`.repeat(200), 'latin1');
  for (const limit of [latin.length, 300]) {
    const text = shown(limit, latin).replace(/\n\[… .* …\]\n/, '');
    t.ok(text.includes('\ufffd'), 'text in another encoding is still shown');
    t.ok(Buffer.byteLength(text) <= limit, `${Buffer.byteLength(text)} of ${limit}`);
  }
});

t.test('binary output is described, not shown', async (t) => {
  const random = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 167 + 13) % 256));
  const text = shown(1000, random);
  t.match(text, /^\[binary output, 4096 bytes; the first 64 in hexadecimal: 0db4/);
  t.ok(text.length < 300);
  t.match(shown(100, 'abc\0def'), /binary output, 7 bytes/);
  t.equal(shown(100, '\u001b[31mred\u001b[0m\r\n\tx\b'), '\u001b[31mred\u001b[0m\r\n\tx\b');
});

t.test('clipping keeps whole characters from either side', async (t) => {
  t.equal(clipText('a€b', 3, 'start'), 'a');
  t.equal(clipText('a€b', 4, 'start'), 'a€');
  t.equal(clipText('a€b', 3, 'end'), 'b');
  t.equal(clipText('a€b', 4, 'end'), '€b');
  t.equal(clipText('a€b', 0, 'start'), '');
  t.equal(clipText('a\ud800b', 10, 'start'), 'a\ufffdb');
});

t.test('a limit of nothing keeps nothing and counts everything', async (t) => {
  const kept = pushed(0, 'a\nb\n').kept();
  t.same([kept.head.length, kept.tail.length, kept.omittedBytes, kept.omittedLines], [0, 0, 4, 2]);
});
