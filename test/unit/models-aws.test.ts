// What every service of AWS shares: how a request is signed, and how a binary stream is cut into messages.
import t from 'tap';
import { crc32 } from '../../worker/models/crc32.js';
import type { StreamFault } from '../../worker/models/dialect.js';
import { awsEventStream } from '../../worker/models/event-stream.js';
import { eventStreamMessage, modelEvent } from '../../worker/models/event-stream-message.js';
import { signature } from '../../worker/models/sigv4.js';

/** The keys, the time and the session token of the published test suite. */
const SUITE_KEYS = {
  region: 'us-east-1',
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const SUITE_TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';

interface Vector {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly token?: string;
  readonly names: string;
  readonly signed: string;
}

const PLAIN = 'host;x-amz-date';
const VECTORS: readonly Vector[] = [
  {
    name: 'get-vanilla',
    names: PLAIN,
    signed: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    name: 'get-utf8',
    path: '/ሴ',
    names: PLAIN,
    signed: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
  },
  {
    name: 'get-space',
    path: '/example space/',
    names: PLAIN,
    signed: '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
  },
  {
    name: 'get-unreserved',
    path: '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    names: PLAIN,
    signed: '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  },
  {
    name: 'get-vanilla-empty-query-key',
    query: [['Param1', 'value1']],
    names: PLAIN,
    signed: 'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  },
  {
    name: 'get-vanilla-query-order-key-case',
    query: [
      ['Param2', 'value2'],
      ['Param1', 'value1'],
    ],
    names: PLAIN,
    signed: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  {
    name: 'get-vanilla-utf8-query',
    query: [['ሴ', 'bar']],
    names: PLAIN,
    signed: '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  },
  {
    name: 'get-header-value-trim',
    headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
    names: 'host;my-header1;my-header2;x-amz-date',
    signed: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  },
  {
    name: 'post-header-key-sort',
    method: 'POST',
    headers: { 'my-header1': 'value1' },
    names: 'host;my-header1;x-amz-date',
    signed: 'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  },
  {
    name: 'post-vanilla',
    method: 'POST',
    names: PLAIN,
    signed: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  {
    name: 'post-x-www-form-urlencoded',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'Param1=value1',
    names: 'content-type;host;x-amz-date',
    signed: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
  {
    name: 'post-sts-header-before',
    method: 'POST',
    token: SUITE_TOKEN,
    names: 'host;x-amz-date;x-amz-security-token',
    signed: '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  },
];

for (const vector of VECTORS)
  t.test(`the signature of the published example ${vector.name} is right`, async (t) => {
    const added = signature({
      method: vector.method ?? 'GET',
      path: vector.path ?? '/',
      query: vector.query ?? [],
      headers: { host: 'example.amazonaws.com', ...vector.headers },
      body: vector.body ?? '',
      service: 'service',
      keys: { ...SUITE_KEYS, ...(vector.token === undefined ? {} : { session_token: vector.token }) },
      atMs: Date.parse('2015-08-30T12:36:00Z'),
    });
    t.equal(added['x-amz-date'], '20150830T123600Z');
    t.equal(added['x-amz-security-token'], vector.token);
    t.equal(
      added.authorization,
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${vector.names}, Signature=${vector.signed}`,
    );
  });

/** Feeds the bytes in pieces of one size. */
function decoded(bytes: Buffer, size: number): { events: string[]; fault: StreamFault | null } {
  const events: string[] = [];
  let fault: StreamFault | null = null;
  const frames = awsEventStream.open(
    (data) => events.push(data),
    (why) => {
      fault = why;
    },
  );
  for (let at = 0; at < bytes.length; at += size) frames.push(bytes.subarray(at, at + size));
  frames.end();
  return { events, fault };
}

t.test('a published message is read, and its checksums are those that we compute', async (t) => {
  const bytes = Buffer.from(
    '0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b27666f6f273a27626172277d8d9c08b1',
    'hex',
  );
  t.equal(crc32(Buffer.from('123456789')), 0xcbf43926);
  t.same(eventStreamMessage({ 'content-type': 'application/json' }, "{'foo':'bar'}"), bytes);
  t.same(decoded(bytes, bytes.length), { events: [`{"":{'foo':'bar'}}`], fault: null });
});

t.test('a stream may be cut at any byte', async (t) => {
  const bytes = Buffer.concat([
    modelEvent('a', '{"text":"Grüße 😀"}'),
    eventStreamMessage({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, ''),
    eventStreamMessage(
      { ':message-type': 'error', ':error-code': 'Internal', ':error-message': 'broken "x"' },
      '',
    ),
    modelEvent('b', '{}'),
  ]);
  const expected = [
    '{"a":{"text":"Grüße 😀"}}',
    '{"error":{},"type":"throttlingException"}',
    '{"error":{"message":"broken \\"x\\""},"type":"Internal"}',
    '{"b":{}}',
  ];
  for (let size = 1; size <= bytes.length; size += 1)
    t.strictSame(decoded(bytes, size), { events: expected, fault: null }, `pieces of ${size}`);
});

t.test('every single changed bit is noticed before the message is used', async (t) => {
  const bytes = Buffer.concat([modelEvent('a', '{"n":1}'), modelEvent('b', '{"n":2}')]);
  const { length } = modelEvent('a', '{"n":1}');
  for (let bit = 0; bit < length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    t.strictSame(decoded(changed, 7), { events: [], fault: 'damaged' }, `bit ${bit}`);
  }
});

/** A message of four bytes at least, whose checksums fit whatever it claims. */
function claiming(total: number, headers: number): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(total, 0);
  prelude.writeUInt32BE(headers, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  return prelude;
}

t.test('lengths and headers that cannot be are refused before they are waited for', async (t) => {
  t.equal(decoded(claiming(16 * 1024 * 1024 + 1, 0), 5).fault, 'too_large');
  t.equal(decoded(claiming(200 * 1024, 129 * 1024), 5).fault, 'too_large');
  t.equal(decoded(claiming(15, 0), 5).fault, 'damaged');
  t.equal(decoded(claiming(40, 30), 5).fault, 'damaged');
  const whole = (headers: Buffer): Buffer => {
    const bytes = Buffer.concat([claiming(16 + headers.length, headers.length), headers, Buffer.alloc(4)]);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
    return bytes;
  };
  for (const [what, bytes] of [
    ['a name beyond the end', [9, 97]],
    ['no type', [1, 97]],
    ['an unknown type', [1, 97, 10, 0]],
    ['a text without length', [1, 97, 7, 0]],
    ['a text beyond the end', [1, 97, 7, 0, 9, 98]],
    ['a number beyond the end', [1, 97, 5, 1, 2]],
  ] as const)
    t.equal(decoded(whole(Buffer.from(bytes)), 3).fault, 'damaged', what);
  const odd = Buffer.from([
    1,
    97,
    0,
    1,
    98,
    4,
    0,
    0,
    0,
    1,
    1,
    99,
    6,
    0,
    1,
    7,
    1,
    100,
    8,
    ...Array(8).fill(0),
  ]);
  t.strictSame(decoded(whole(odd), 3), { events: ['{"":{}}'], fault: null }, 'other types are passed over');
});
