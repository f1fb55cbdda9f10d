// What a provider does when the endpoint says no, or more than can be taken: what is asked again, what is left out, and
// what people are told.
import t from 'tap';
import { systemClock } from '../../shared/clock.js';
import { answerOf, failureOf, forEveryDialect, scripted } from '../fakes/model-contract.js';
import type { FakeStep } from '../fakes/model-steps.js';

forEveryDialect('overload is waited out, and no longer than the retries allow', async (t, dialect) => {
  const overloaded: FakeStep = {
    status: 529,
    body: { error: { type: 'overloaded_error', message: 'busy' } },
  };
  const bench = await scripted(t, dialect, [
    { ...overloaded, times: 3 },
    { text: 'ok' },
    { ...overloaded, times: 4 },
  ]);
  const told = await bench.call();
  t.equal(answerOf(told).text, 'ok');
  t.strictSame(
    told.events.map((event) => (event.kind === 'retry' ? [event.attempt, event.reason] : event.kind)),
    [[1, 'overloaded'], [2, 'overloaded'], [3, 'overloaded'], 'text'],
  );
  const failure = failureOf(await bench.call());
  t.equal(failure.code, 'model_unreachable');
  t.match(failure.message, 'tried 4 times');
  bench.model.assertDone();
});

forEveryDialect('a retry waits as long as the peer asks', async (t, dialect) => {
  const limited = (after: string): FakeStep => ({ status: 429, headers: { 'retry-after': after }, body: {} });
  const past = 'Wed, 21 Oct 2015 07:28:00 GMT';
  const bench = await scripted(t, dialect, [limited('2'), limited(past), { text: 'ok' }, limited('7200')]);
  const told = await bench.call();
  t.equal(answerOf(told).text, 'ok');
  const delays = told.events.flatMap((event) => (event.kind === 'retry' ? [event.delay_ms] : []));
  t.ok((delays[0] ?? 0) >= 2_000, 'not before the time asked for');
  t.ok((delays[1] ?? 0) > 0 && (delays[1] ?? 0) <= 1_000, 'a date in the past means the usual wait');
  const failure = failureOf(await bench.call());
  t.equal(failure.code, 'model_rate_limited');
  t.match(failure.message, /come back in 2 hours, at \d{4}-/);
  bench.model.assertDone();
});

forEveryDialect('a cancel during a wait does not wait', async (t, dialect) => {
  const limited: FakeStep = { status: 429, headers: { 'retry-after': '59' }, body: {} };
  const bench = await scripted(t, dialect, [limited], { clock: systemClock });
  const controller = new AbortController();
  const told = await bench.call({
    signal: controller.signal,
    onEvent: (event) => event.kind === 'retry' && queueMicrotask(() => controller.abort('cancel')),
  });
  t.same(told.outcome, { kind: 'aborted' });
  bench.model.assertDone();
});

forEveryDialect('an account without quota is not asked again', async (t, dialect) => {
  const empty: FakeStep[] = [
    {
      status: 429,
      body: {
        error: {
          type: 'insufficient_quota',
          code: 'insufficient_quota',
          message: 'You exceeded your current quota',
        },
      },
    },
    { status: 429, body: { error: { message: 'quota exhausted' } } },
    { status: 402, body: {} },
    {
      status: 400,
      body: { error: { type: 'invalid_request_error', message: 'Your credit balance is too low' } },
    },
  ];
  const bench = await scripted(t, dialect, empty);
  for (const _ of empty) t.equal(failureOf(await bench.call()).code, 'model_quota_exhausted');
  bench.model.assertDone();
});

forEveryDialect('a refusal is told in our words, never with the body of the peer', async (t, dialect) => {
  const refusals: FakeStep[] = [401, 403, 404, 400, 422, 302].map((status) => ({
    status,
    headers: {
      [dialect === 'bedrock' ? 'x-amzn-requestid' : 'x-request-id']:
        status === 404 ? 'req-canary-key-123' : 'req_77',
      location: 'http://127.0.0.1:1/canary-key-123',
    },
    body: {
      error: {
        type: 'canary-key-123',
        code: 'canary-key-123',
        param: 'canary-key-123',
        message: 'invalid key canary-key-123',
      },
    },
  }));
  const streamed: FakeStep = {
    text: 'a',
    breakOff: {
      after: 1,
      how: 'error_event',
      error: { type: 'authentication_error', message: 'canary-key-123' },
    },
  };
  const html: FakeStep = {
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: '<html>canary-key-123</html>',
  };
  const bench = await scripted(t, dialect, [...refusals, streamed, html]);
  for (const refusal of [...refusals, streamed, html]) {
    const told = await bench.call();
    t.equal(failureOf(told).code, 'model_rejected');
    t.notMatch(JSON.stringify(told), 'canary');
    if (refusal.status === 401) t.match(failureOf(told).message, /rejected the credentials \(401\).*req_77/);
  }
  bench.model.assertDone();
});

forEveryDialect('a conversation beyond the window is told apart from other refusals', async (t, dialect) => {
  const long: FakeStep[] = [
    {
      status: 400,
      body: {
        error: {
          code: 'context_length_exceeded',
          message: "This model's maximum context length is 8192 tokens. Reduce max_tokens.",
        },
      },
    },
    {
      status: 400,
      body: {
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 210000 tokens > 200000 maximum',
        },
      },
    },
    { status: 413, body: 'too large' },
  ];
  const bench = await scripted(t, dialect, long);
  for (const _ of long) t.equal(failureOf(await bench.call()).code, 'context_exhausted');
});

forEveryDialect('an option that the model refuses is left out once, and named', async (t, dialect) => {
  const refused: FakeStep = {
    status: 400,
    body: {
      error: {
        type: 'invalid_request_error',
        param: 'temperature',
        code: 'unsupported_value',
        message: "Unsupported value: 'temperature' does not support 0 with this model.",
      },
    },
  };
  const bench = await scripted(t, dialect, [refused, { text: 'ok' }, refused, refused, { text: 'ok' }]);
  const told = await bench.call({ settings: { temperature: 0 } });
  t.strictSame(told.events[0], { kind: 'option_dropped', option: 'temperature' });
  t.equal(answerOf(told).text, 'ok');
  t.match(bench.model.requests[0]?.bodyText, '"temperature":0');
  t.notMatch(bench.model.requests[1]?.bodyText, 'temperature');
  t.equal(
    failureOf(await bench.call({ settings: { temperature: 0 } })).code,
    'model_rejected',
    'named twice: no loop',
  );
  await bench.call({ settings: { temperature: 0, omit: ['temperature'] } });
  t.notMatch(bench.model.requests[4]?.bodyText, 'temperature', 'never sent again');
  bench.model.assertDone();
});

forEveryDialect('what a failed attempt cost is part of the call', async (t, dialect) => {
  const broken: FakeStep = {
    text: 'abc',
    usage: { input: 50, output: 3 },
    breakOff: { after: 2, how: 'end' },
  };
  const bench = await scripted(
    t,
    dialect,
    [broken, { text: 'ok', usage: { input: 50, output: 2 } }, broken],
    { settings: { retries: 1 } },
  );
  const { usage } = answerOf(await bench.call());
  const charged = dialect === 'anthropic';
  t.equal(usage?.input_tokens, charged ? 100 : 50, 'only one dialect gives numbers early');
  const { outcome } = await bench.call({ settings: { retries: 0 } });
  t.match(outcome, { kind: 'failed', charged: charged ? { input_tokens: 50 } : null });
});

forEveryDialect(
  'an answer that is larger than a frame is refused, whatever its letters',
  async (t, dialect) => {
    // Fewer letters than the bound has bytes.
    const text = '€'.repeat(5.5 * 1024 * 1024);
    const bench = await scripted(t, dialect, [
      { text, pieces: 1024 * 1024 },
      { calls: [{ name: 'write_file', arguments: { content: text } }], pieces: 1024 * 1024 },
      { text: text.slice(0, 1024 * 1024), pieces: 1024 * 1024 },
    ]);
    for (const _ of [1, 2]) t.match(failureOf(await bench.call()).message, /beyond every bound/);
    t.equal(answerOf(await bench.call()).text.length, 1024 * 1024);
  },
);

t.test('a line or a head without end is refused before it fills the memory', async (t) => {
  const bench = await scripted(t, 'openai', [
    { raw: `data: ${'x'.repeat(17 * 1024 * 1024)}` },
    { text: 'a', headers: { 'x-long': 'y'.repeat(40_000) } },
  ]);
  for (const _ of [1, 2]) {
    const failure = failureOf(await bench.call());
    t.equal(failure.code, 'model_unreachable');
    t.match(failure.message, 'more than any answer');
  }
});
