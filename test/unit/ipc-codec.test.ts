import t from 'tap';
import { encodeFrame, FRAME_MAX_BYTES, FrameReader } from '../../shared/ipc/codec.js';
import { parseFrame } from '../../shared/ipc/parse-frame.js';
import { DEPTH_MAX, scanPlain } from '../../shared/ipc/plain-scan.js';
import { type ToSupervisor, toSupervisor } from '../../shared/ipc/to-supervisor.js';
import { toWorker } from '../../shared/ipc/to-worker.js';
import type { JsonValue } from '../../shared/json.js';

function bytesOf(frame: ToSupervisor): Buffer {
  const encoded = encodeFrame(frame);
  if (!encoded.ok) throw new TypeError(encoded.message);
  return encoded.bytes;
}

function delta(text: string): ToSupervisor {
  return { type: 'progress', progress: { event: 'delta', item_id: 'item_1', stream: 'text', text } };
}

function request(args: Record<string, JsonValue>): ToSupervisor {
  return { type: 'tool_request', id: 1, call_id: 'call_1', round: 1, index: 0, tool: 'x', arguments: args };
}

function readAll(chunks: Iterable<Buffer>): unknown[] {
  const reader = new FrameReader();
  const values: unknown[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let read = reader.read(); read.kind !== 'more'; read = reader.read()) {
      if (read.kind === 'broken') throw new TypeError(read.message);
      values.push(read.value);
    }
  }
  return values;
}

/** The bytes of a frame with this content. */
function framed(...content: number[]): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(content.length);
  return Buffer.concat([header, Buffer.from(content)]);
}

t.test('frames come out as they went in, wherever the stream is cut', async (t) => {
  const frames = [
    delta('a'),
    delta('ü€😀'.repeat(500)),
    { type: 'ready' } as const,
    request({ n: -1.5, big: 2 ** 53, deep: { list: [1, [null, true, { k: 'v' }]] }, empty: {} }),
  ];
  const bytes = Buffer.concat(frames.map(bytesOf));
  for (const size of [1, 2, 3, 5, 7, 64, 1000, bytes.length]) {
    const chunks = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(Buffer.from(bytes.subarray(at, at + size)));
    t.same(readAll(chunks), frames, `chunks of ${size} bytes`);
  }
});

t.test('a frame that spans thousands of chunks is copied once, not once a chunk', async (t) => {
  const bytes = bytesOf(delta('x'.repeat(8 * 1024 * 1024)));
  const reader = new FrameReader();
  const before = process.memoryUsage().arrayBuffers;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 512) {
    reader.push(bytes.subarray(at, at + 512));
    if (reader.read().kind === 'value') values += 1;
  }
  t.equal(values, 1);
  t.ok(process.memoryUsage().arrayBuffers - before < 2 * bytes.length, 'one buffer for the whole frame');
});

t.test('a frame over the cap is refused on both sides, with the numbers', async (t) => {
  const encoded = encodeFrame(delta('x'.repeat(FRAME_MAX_BYTES)));
  t.match(encoded, { ok: false, message: /over the cap of 16777216 bytes/ });
  const reader = new FrameReader();
  const header = Buffer.alloc(4);
  header.writeUInt32BE(FRAME_MAX_BYTES + 1);
  reader.push(header);
  t.match(reader.read(), { kind: 'broken', message: /16777217 bytes is over the cap/ });
  reader.push(bytesOf({ type: 'ready' }));
  t.equal(reader.read().kind, 'broken', 'and nothing after it is read');
  t.ok(encodeFrame(delta('x'.repeat(FRAME_MAX_BYTES - 1024))).ok, 'one just below the cap goes through');
});

t.test('only plain JSON crosses, whatever a peer encodes', async (t) => {
  const cases: Record<string, Buffer> = {
    'a date': framed(0xd6, 0xff, 0, 0, 0, 1),
    'a set': framed(0xd4, 0x73, 0x90),
    'an error': framed(0xd4, 0x65, 0x90),
    'a regular expression': framed(0xd4, 0x78, 0x92, 0xa1, 0x61, 0xa0),
    binary: framed(0xc4, 1, 1),
    'a 64-bit integer': framed(0xcf, 0, 0, 0, 0, 0, 0, 0, 1),
    'the byte that means nothing': framed(0xc1),
    'a number as a key': framed(0x81, 0x01, 0x02),
    'an array that promises more than it holds': framed(0xdd, 0xff, 0xff, 0xff, 0xff, 1),
    'bytes after the value': framed(0x01, 0x01),
    nothing: framed(),
  };
  for (const [name, bytes] of Object.entries(cases)) {
    const reader = new FrameReader();
    reader.push(bytes);
    t.match(reader.read(), { kind: 'broken', message: /cannot be read/ }, name);
  }
  const date = new Date(0) as unknown as JsonValue;
  t.match(
    encodeFrame(request({ date })),
    { ok: false, message: /not JSON/ },
    'and the sender hears it first',
  );
});

t.test('no key can reach a prototype', async (t) => {
  const args = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
  const [value] = readAll([bytesOf(request(args))]);
  t.equal(Object.getPrototypeOf(value), Object.prototype);
  const parsed = parseFrame(toSupervisor, value);
  t.ok(parsed.ok);
  const inner = (value as { arguments: object }).arguments;
  t.equal(Object.getPrototypeOf(inner), Object.prototype);
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
});

t.test('nesting is bounded before anything recurses', async (t) => {
  const nested = (levels: number): JsonValue => {
    let value: JsonValue = 1;
    for (let level = 0; level < levels; level += 1) value = [value];
    return value;
  };
  t.ok(encodeFrame(request({ value: nested(DEPTH_MAX - 2) })).ok);
  t.match(encodeFrame(request({ value: nested(DEPTH_MAX) })), { ok: false, message: /nested deeper/ });
  t.match(encodeFrame(request({ value: nested(100_000) })), { ok: false });
  t.match(scanPlain(Buffer.alloc(1_000_000, 0x91), 0), /nested deeper/);
});

t.test('text that no encoding can carry becomes text that one can', async (t) => {
  const [value] = readAll([bytesOf(delta(`a\ud800b${'\udc00'.repeat(100)}\0`))]);
  const text = (value as { progress: { text: string } }).progress.text;
  t.equal(text.length, 104);
  t.ok(text.startsWith('a') && text.endsWith('\0'));
});

t.test('a frame that does not fit says where and what was expected, not what was there', async (t) => {
  const secret = 'sk-very-secret';
  const wrong = parseFrame(toSupervisor, { type: 'pong', seq: secret });
  t.match(wrong, { ok: false, message: /seq should be number/ });
  t.notMatch(wrong, { message: new RegExp(secret) });
  t.match(parseFrame(toSupervisor, { type: secret }), { ok: false });
  t.notMatch(parseFrame(toSupervisor, { type: secret }), { message: new RegExp(secret) });
  for (const value of [null, 1, 'x', [], {}]) t.notOk(parseFrame(toWorker, value).ok);
});
