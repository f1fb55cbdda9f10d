// The contract of a model provider, held by every dialect that goes over HTTP: what an answer is, and when it ends.
import t from 'tap';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { hurried } from '../fakes/model-call.js';
import { answerOf, failureOf, forEveryDialect, kindsOf, scripted, textOf } from '../fakes/model-contract.js';
import type { FakeStep, HttpDialect } from '../fakes/model-steps.js';

/** What is kept of `hm, so` beside a text, to be sent back. */
const KEPT_REASONING: Readonly<Record<HttpDialect, JsonValue[]>> = {
  openai: [],
  openai_responses: [
    {
      type: 'reasoning',
      id: 'rs_0',
      summary: [{ type: 'summary_text', text: 'hm, so' }],
      encrypted_content: 'sealed-by-the-fake',
    },
  ],
  anthropic: [{ type: 'thinking', thinking: 'hm, so', signature: 'signed-by-the-fake' }],
  bedrock: [{ reasoningContent: { reasoningText: { text: 'hm, so', signature: 'signed-by-the-fake' } } }],
};

/** How each dialect says that an answer was cut, and that it was refused. */
const STOPS: Readonly<Record<HttpDialect, readonly [string, string]>> = {
  openai: ['length', 'content_filter'],
  openai_responses: ['max_output_tokens', 'content_filter'],
  anthropic: ['max_tokens', 'refusal'],
  bedrock: ['max_tokens', 'guardrail_intervened'],
};

forEveryDialect('text arrives as it streams, with its numbers', async (t, dialect) => {
  const usage = { input: 100, output: 7, cached: 60, created: 10 };
  const bench = await scripted(t, dialect, [
    { text: 'Grüße 😀, done.', reasoning: 'hm, so', pieces: 1, splitBytes: 3, usage },
  ]);
  const told = await bench.call();
  t.strictSame(answerOf(told), {
    text: 'Grüße 😀, done.',
    calls: [],
    reasoning: KEPT_REASONING[dialect],
    stop: 'end',
    usage: {
      input_tokens: 100,
      output_tokens: 7,
      cached_tokens: 60,
      ...(dialect === 'anthropic' || dialect === 'bedrock' ? { written_tokens: 10 } : {}),
      estimated: false,
    },
    model: 'test-model',
  });
  t.equal(textOf(told), 'Grüße 😀, done.');
  t.notMatch(textOf(told), '\ufffd');
  t.ok(told.events.length > 10, 'in pieces');
  t.equal(told.events.filter((event) => event.kind === 'reasoning').length, 6);
  bench.model.assertDone();
});

forEveryDialect(
  'parallel calls in one-character pieces keep their order and their raw arguments',
  async (t, dialect) => {
    const big = `{"path":"a","content":"${'x'.repeat(200 * 1024)}"}`;
    const bench = await scripted(t, dialect, [
      {
        text: 'I look.',
        calls: [
          { name: 'read_file', arguments: { path: 'ü.txt' } },
          { name: 'grep', arguments: '{"cut' },
        ],
        pieces: 1,
      },
      { calls: [{ name: 'write_file', arguments: big }], pieces: 97 },
      { calls: [{ name: 'plan_get', arguments: '' }] },
    ]);
    const first = answerOf(await bench.call());
    t.equal(first.stop, 'tool_calls');
    t.equal(first.text, 'I look.');
    t.strictSame(
      first.calls.map((call) => [call.wire_name, call.arguments_text]),
      [
        ['read_file', '{"path":"ü.txt"}'],
        ['grep', '{"cut'],
      ],
    );
    t.equal(answerOf(await bench.call()).calls[0]?.arguments_text, big, '200 KB arrive whole');
    t.equal(answerOf(await bench.call()).calls[0]?.arguments_text, '', 'no arguments stay none');
  },
);

forEveryDialect('calls with missing or repeated provider ids are told apart', async (t, dialect) => {
  const calls = [
    { name: 'a', arguments: {}, id: '' },
    { name: 'b', arguments: {}, id: 'same' },
    { name: 'c', arguments: {}, id: 'same' },
  ];
  const bench = await scripted(t, dialect, [{ calls }]);
  const answer = answerOf(await bench.call());
  t.strictSame(
    answer.calls.map((call) => call.wire_name),
    ['a', 'b', 'c'],
  );
  t.equal(new Set(answer.calls.map((call) => call.provider_id)).size, 3);
  t.notOk(answer.calls.some((call) => call.provider_id === ''));
});

forEveryDialect('half characters and NULs never leave the provider', async (t, dialect) => {
  const bench = await scripted(t, dialect, [{ text: 'a\ud83d b\0c 😀', pieces: 1 }]);
  const told = await bench.call();
  t.equal(answerOf(told).text, 'a\ufffd b\ufffdc 😀');
  t.equal(textOf(told), 'a\ufffd b\ufffdc 😀');
});

forEveryDialect(
  'an empty reply, missing numbers and stop reasons are told as they are',
  async (t, dialect) => {
    const [cut, refused] = STOPS[dialect];
    const bench = await scripted(t, dialect, [
      { text: '', usage: null },
      { text: 'cut', stop: cut },
      { text: 'no', stop: refused },
      { text: 'odd', stop: 'something_new' },
    ]);
    const empty = answerOf(await bench.call());
    t.match(empty, { text: '', calls: [], stop: 'end', usage: null });
    t.equal(answerOf(await bench.call()).stop, 'length');
    t.equal(answerOf(await bench.call()).stop, 'refusal');
    t.equal(answerOf(await bench.call()).stop, 'other');
  },
);

forEveryDialect(
  'chunks without a delta, unknown events and broken JSON are passed over',
  async (t, dialect) => {
    const junk = [
      '{"choices":[{"index":0}]}',
      '{"choices":[]}',
      '{"type":"news"}',
      'not json',
      '[]',
      '{"type":"content_block_delta","index":9}',
    ];
    const bench = await scripted(t, dialect, [{ text: 'fine', junk }]);
    t.equal(answerOf(await bench.call()).text, 'fine');
  },
);

t.test('a byte order mark before the stream does not cost its first event', async (t) => {
  const events = ['{"delta":{"content":"first"}}', '{"delta":{},"finish_reason":"stop"}'];
  const raw = events.map((choice) => `data: {"choices":[${choice}]}\n\n`);
  const bench = await scripted(t, 'openai', [{ raw: ['\uFEFF', ...raw] }, { raw: `\uFEFF${raw.join('')}` }]);
  for (const _ of [1, 2]) t.equal(answerOf(await bench.call()).text, 'first');
});

forEveryDialect('an abort ends the call before, while and after the peer speaks', async (t, dialect) => {
  const bench = await scripted(t, dialect, [
    { hang: 'no_answer' },
    { hang: 'headers_only' },
    { text: 'abcdef', pieces: 1, breakOff: { after: 3, how: 'silence' } },
  ]);
  const early = await bench.call({ signal: AbortSignal.abort('cancel') });
  t.same(early, { outcome: { kind: 'aborted' }, events: [], endpoints: [] });
  t.equal(bench.model.requests.length, 0);
  for (const n of [1, 2]) {
    const controller = new AbortController();
    const running = bench.call({ signal: controller.signal });
    const request = await bench.model.waitForRequest(n);
    controller.abort('cancel');
    t.same((await running).outcome, { kind: 'aborted' });
    await request.aborted;
  }
  const controller = new AbortController();
  const told = await bench.call({ signal: controller.signal, onEvent: () => controller.abort('cancel') });
  t.same(told.outcome, { kind: 'aborted' });
  await bench.model.requests[2]?.aborted;
  bench.model.assertDone();
});

forEveryDialect('the deadline bounds the call in flight', async (t, dialect) => {
  const bench = await scripted(t, dialect, [{ hang: 'headers_only' }]);
  const told = await bench.call({ request: { deadline_ms: 600 } });
  t.same(told.outcome, { kind: 'timeout' });
  await bench.model.requests[0]?.aborted;
  t.same((await bench.call({ request: { deadline_ms: 0 } })).outcome, { kind: 'timeout' });
});

for (const hang of ['no_answer', 'headers_only', 'half_event', 'pings'] as const)
  forEveryDialect(
    `a peer that hangs (${hang}) is given up after its limit and asked again`,
    async (t, dialect) => {
      const bench = await scripted(t, dialect, [{ hang }, { text: 'back' }], { clock: hurried(400) });
      const told = await bench.call();
      t.equal(answerOf(told).text, 'back');
      t.match(told.events[0], { kind: 'retry', attempt: 1, reason: 'provider silent' });
      await bench.model.requests[0]?.aborted;
      bench.model.assertDone();
    },
  );

for (const how of ['silence', 'pings', 'drop', 'end', 'error_event'] as const)
  forEveryDialect(`an answer that breaks off (${how}) is void and asked for again`, async (t, dialect) => {
    const broken: FakeStep = { text: 'abcdef', pieces: 1, breakOff: { after: 4, how } };
    const bench = await scripted(t, dialect, [broken, { text: 'whole' }], { clock: hurried(400) });
    const told = await bench.call();
    t.equal(answerOf(told).text, 'whole');
    t.strictSame(kindsOf(told), ['restart', 'retry']);
    bench.model.assertDone();
  });

forEveryDialect('a stream that only drips without end is bounded by the call limit', async (t, dialect) => {
  const drip: FakeStep = { text: 'x'.repeat(5_000), pieces: 1, pieceDelayMs: 2 };
  const bench = await scripted(t, dialect, [drip], { settings: { call_ms: 6_000 } });
  const failure = failureOf(await bench.call());
  t.equal(failure.code, 'model_unreachable');
  t.match(failure.message, 'did not finish');
});

t.test('anthropic: pings keep a slow answer alive, but not for ever', async (t) => {
  const event = (type: string, fields: JsonObject = {}): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const begin = [
    event('message_start', { message: { model: 'm' } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: 'a' } }),
  ];
  const pings = Array.from({ length: 8 }, () => event('ping'));
  const end = [event('message_delta', { delta: { stop_reason: 'end_turn' } }), event('message_stop')];
  const slow = { pieceDelayMs: 50 };
  const bench = await scripted(
    t,
    'anthropic',
    [
      { ...slow, raw: [...begin, ...pings, ...end] },
      { ...slow, raw: [...begin, ...Array.from({ length: 6 }, () => pings).flat()] },
    ],
    { clock: hurried(400), settings: { idle_ms: 80_000, first_byte_ms: 480_000, retries: 0 } },
  );
  t.equal(answerOf(await bench.call()).text, 'a');
  t.match(failureOf(await bench.call()).message, 'fell silent');
});

t.test('openai: an answer whose stop reason came is whole, end marker or not', async (t) => {
  const bench = await scripted(t, 'openai', [
    { text: 'a', breakOff: { after: 3, how: 'end' } },
    { text: 'b', breakOff: { after: 3, how: 'silence' } },
    { text: 'c', breakOff: { after: 4, how: 'drop' } },
  ]);
  for (const text of ['a', 'b', 'c']) t.match(answerOf(await bench.call()), { text, stop: 'end' });
});

t.test('openai: calls without an index, or all with the same one, are kept apart', async (t) => {
  const chunk = (delta: JsonObject, finish: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const call = (fields: JsonObject, name: string, args: JsonValue): JsonObject => ({
    ...fields,
    function: { name, arguments: args },
  });
  const bench = await scripted(t, 'openai', [
    {
      raw: [
        chunk({ tool_calls: [call({ id: 'x' }, 'a', '{"n"')] }),
        chunk({ tool_calls: [{ function: { arguments: ':1}' } }] }),
        chunk({ tool_calls: [call({ id: 'y' }, 'b', { n: 2 })] }, 'tool_calls'),
      ],
    },
    {
      raw: [
        chunk({ tool_calls: [call({ index: 0, id: 'x' }, 'a', '{"n":1}')] }),
        chunk({ tool_calls: [call({ index: 0, id: 'y' }, 'b', '{"n":2}')] }, 'tool_calls'),
      ],
    },
  ]);
  for (const _ of [1, 2])
    t.strictSame(
      answerOf(await bench.call()).calls.map(({ wire_name, arguments_text }) => [wire_name, arguments_text]),
      [
        ['a', '{"n":1}'],
        ['b', '{"n":2}'],
      ],
    );
});

t.test('anthropic: thinking that was not signed, or not finished, is not kept', async (t) => {
  const bench = await scripted(t, 'anthropic', [
    { reasoning: 'hm', signature: null, text: 'a' },
    { reasoning: 'hm', text: 'b' },
  ]);
  t.strictSame(answerOf(await bench.call()).reasoning, []);
  t.equal(answerOf(await bench.call()).reasoning.length, 1);
});
