// Bedrock: how a request looks and is signed, how its answer is read, and what its refusals mean.
import { createHash, createHmac } from 'node:crypto';
import t from 'tap';
import type { JsonObject } from '../../shared/json.js';
import type { Message } from '../../shared/transcript/message.js';
import { crc32 } from '../../worker/models/crc32.js';
import { modelEvent } from '../../worker/models/event-stream-message.js';
import { AWS_KEYS, plannedTool } from '../fakes/model-call.js';
import { answerOf, failureOf, scripted } from '../fakes/model-contract.js';
import type { FakeStep } from '../fakes/model-steps.js';

t.test('what is sent is what was signed: path encoded twice, body, host, time, session', async (t) => {
  const bench = await scripted(t, 'bedrock', [{ text: 'ok' }]);
  const aws = { ...AWS_KEYS, session_token: 'session-of-the-test' };
  await bench.call({ settings: { model: 'eu.anthropic.claude-x-v2:0' }, credentials: { aws } });
  const [request] = bench.model.requests;
  t.equal(request?.path, '/model/eu.anthropic.claude-x-v2%3A0/converse-stream');
  const stamp = String(request?.headers['x-amz-date']);
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const canonical = `POST
/model/eu.anthropic.claude-x-v2%253A0/converse-stream

content-type:application/json
host:${request?.headers.host}
x-amz-date:${stamp}
x-amz-security-token:session-of-the-test

content-type;host;x-amz-date;x-amz-security-token
${digest(request?.bodyText ?? '')}`;
  const scope = `${stamp.slice(0, 8)}/eu-central-1/bedrock/aws4_request`;
  const mac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const key = mac(
    mac(mac(mac('AWS4canary-key-123', stamp.slice(0, 8)), 'eu-central-1'), 'bedrock'),
    'aws4_request',
  );
  const signed = mac(key, `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${digest(canonical)}`).toString('hex');
  t.match(String(request?.headers.authorization), `Signature=${signed}`);
  t.equal(request?.headers.accept, 'application/vnd.amazon.eventstream');
  bench.model.assertDone();
});

t.test('the time of the signature is that of the clock, of each attempt anew', async (t) => {
  let nowMs = Date.parse('2030-01-02T03:04:05Z');
  const bench = await scripted(t, 'bedrock', [{ status: 503, body: {} }, { text: 'ok' }], {
    clock: {
      now: () => nowMs,
      monotonic: () => performance.now(),
      after: (delayMs, callback) => {
        const timer = setTimeout(callback, delayMs / 20);
        return () => clearTimeout(timer);
      },
    },
  });
  const onEvent = (): void => {
    nowMs += 3_600_000;
  };
  answerOf(await bench.call({ onEvent }));
  t.same(
    bench.model.requests.map((request) => request.headers['x-amz-date']),
    ['20300102T030405Z', '20300102T040405Z'],
  );
});

t.test('a token goes out as a bearer, without any signature', async (t) => {
  const bench = await scripted(t, 'bedrock', [{ text: 'ok' }]);
  // An absent key must be absent, so the bench's own are taken out by hand.
  const { provider, settings } = bench;
  const outcome = await provider.call(
    {
      settings,
      credentials: { token: 'bedrock-key', headers: {}, mask: [] },
      system_prompt: '',
      messages: [{ role: 'user', text: 'Hello.' }],
      tools: [],
      deadline_ms: 60_000,
    },
    () => undefined,
    new AbortController().signal,
  );
  t.match(outcome, { kind: 'answer' });
  t.equal(bench.model.requests[0]?.headers.authorization, 'Bearer bedrock-key');
  t.notOk('x-amz-date' in (bench.model.requests[0]?.headers ?? {}));
});

/** The beginning of a message that claims to be a gigabyte. */
const ENDLESS = Buffer.alloc(12);
ENDLESS.writeUInt32BE(1 << 30, 0);
ENDLESS.writeUInt32BE(crc32(ENDLESS.subarray(0, 8)), 8);

t.test('a damaged answer is void and asked for again; one without end is bounded', async (t) => {
  const good = modelEvent('contentBlockDelta', '{"contentBlockIndex":0,"delta":{"text":"a"}}');
  const bad = Buffer.from(good);
  bad.writeUInt8(bad.readUInt8(30) ^ 1, 30);
  const bench = await scripted(t, 'bedrock', [{ raw: [good, bad] }, { text: 'whole' }, { raw: ENDLESS }]);
  const told = await bench.call();
  t.equal(answerOf(told).text, 'whole');
  t.match(told.events, [
    { kind: 'text' },
    { kind: 'restart' },
    { kind: 'retry', reason: 'damaged answer' },
    { kind: 'text' },
  ]);
  t.match(failureOf(await bench.call()), { code: 'model_unreachable', message: /more than any answer/ });
});

t.test('an answer whose stop reason came is whole, numbers or not', async (t) => {
  const bench = await scripted(t, 'bedrock', [
    { text: 'a', breakOff: { after: 4, how: 'end' } },
    { text: 'b', breakOff: { after: 4, how: 'silence' } },
    { text: 'c', breakOff: { after: 4, how: 'drop' } },
  ]);
  for (const text of ['a', 'b', 'c'])
    t.match(answerOf(await bench.call()), { text, stop: 'end', usage: null });
});

t.test('refusals and exceptions of the service keep their meaning', async (t) => {
  const refusal = (status: number, kind: string, message: string): FakeStep => ({
    status,
    headers: { 'x-amzn-errortype': `${kind}:http://internal/`, 'x-amzn-requestid': 'aws-req-1' },
    body: { message },
  });
  const thrown = (type: string, message: string): FakeStep => ({
    text: 'a',
    breakOff: { after: 2, how: 'error_event', error: { type, message } },
  });
  const cases: readonly (readonly [FakeStep, string, number])[] = [
    [refusal(429, 'ThrottlingException', 'Too many requests'), 'model_rate_limited', 2],
    [refusal(424, 'ModelErrorException', 'the model failed'), 'model_unreachable', 2],
    [refusal(408, 'ModelTimeoutException', 'slow'), 'model_unreachable', 2],
    [refusal(400, 'ServiceQuotaExceededException', 'no more'), 'model_quota_exhausted', 1],
    [refusal(400, 'ValidationException', 'Input is too long for requested model.'), 'context_exhausted', 1],
    [refusal(403, 'ExpiredTokenException', 'The security token is expired'), 'model_rejected', 1],
    [refusal(404, 'ResourceNotFoundException', 'no such model'), 'model_rejected', 1],
    [thrown('rate_limit_error', 'slow down'), 'model_rate_limited', 2],
    [thrown('invalid_request_error', 'prompt is too long: 9 tokens'), 'context_exhausted', 1],
    [thrown('InternalFailure', 'x'), 'model_unreachable', 2],
  ];
  for (const [step, code, attempts] of cases) {
    const bench = await scripted(t, 'bedrock', [{ ...step, times: attempts }], { settings: { retries: 1 } });
    const failure = failureOf(await bench.call());
    t.equal(failure.code, code, JSON.stringify(step));
    if (step.status === 403) t.match(failure.message, /request id aws-req-1/);
    bench.model.assertDone();
  }
});

const HISTORY: readonly Message[] = [
  { role: 'system', text: 'Plan: none.' },
  { role: 'user', text: 'Look.' },
  {
    role: 'assistant',
    text: ' ',
    calls: [
      { call_id: 'c1', name: 'plan.get', arguments: {} },
      { call_id: 'c2', name: 'old.tool!', arguments: { x: 1 } },
    ],
    reasoning: [
      {
        model: 'anthropic.claude-x',
        data: { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
      },
      {
        model: 'anthropic.claude-x',
        data: { reasoningContent: { reasoningText: { text: 'unsigned', signature: '' } } },
      },
      { model: 'anthropic.claude-x', data: { reasoningContent: { redactedContent: 'c2VhbGVk' } } },
      { model: 'other', data: { reasoningContent: { reasoningText: { text: 'foreign', signature: 's' } } } },
    ],
  },
  { role: 'tool', call_id: 'c1', name: 'plan.get', content: { steps: [] }, is_error: false },
  { role: 'tool', call_id: 'c2', name: 'old.tool!', content: '', is_error: true },
  { role: 'note', text: 'The turn was cancelled.' },
  { role: 'user', text: 'Half \ud83d and NUL \0.' },
];

t.test('history, tools and caps take the form of Converse', async (t) => {
  const bench = await scripted(t, 'bedrock', [{ text: 'ok' }], {
    settings: { model: 'anthropic.claude-x', max_output_tokens: 7 },
  });
  await bench.call({ request: { messages: HISTORY, tools: [plannedTool('plan.get')] } });
  const cachePoint = { cachePoint: { type: 'default' } };
  t.strictSame(bench.model.requests[0]?.body, {
    system: [{ text: 'Be brief.' }, cachePoint, { text: 'Plan: none.' }],
    toolConfig: {
      tools: [
        {
          toolSpec: {
            name: 'plan_get',
            description: 'Does plan.get.',
            inputSchema: { json: { type: 'object', properties: {} } },
          },
        },
        cachePoint,
      ],
    },
    inferenceConfig: { maxTokens: 7 },
    messages: [
      { role: 'user', content: [{ text: 'Look.' }, cachePoint] },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
          { reasoningContent: { redactedContent: 'c2VhbGVk' } },
          { toolUse: { toolUseId: 'c1', name: 'plan_get', input: {} } },
          { toolUse: { toolUseId: 'c2', name: 'old_tool_', input: { x: 1 } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: '{"steps":[]}' }] } },
          { toolResult: { toolUseId: 'c2', content: [{ text: '(no output)' }], status: 'error' } },
          { text: '[note] The turn was cancelled.' },
          { text: 'Half \ufffd and NUL \ufffd.' },
          cachePoint,
        ],
      },
    ],
  });
  bench.model.assertDone();
});

t.test('a history with calls declares its tools even when none is planned', async (t) => {
  const bench = await scripted(t, 'bedrock', [{ text: 'ok' }]);
  await bench.call({ request: { messages: HISTORY } });
  const { toolConfig, messages } = bench.model.requests[0]?.body ?? {};
  t.match(toolConfig, {
    tools: [{ toolSpec: { name: 'plan_get' } }, { toolSpec: { name: 'old_tool_' } }],
  });
  t.match(JSON.stringify(messages), 'ERROR: (no output)', 'a status is for models that take one');
  t.notMatch(JSON.stringify(messages), 'cachePoint');
  bench.model.assertDone();
});

t.test('cache points and a schema are left out where the model refuses them', async (t) => {
  const refuse = (status: number, message: string): FakeStep => ({ status, body: { message } });
  const schema: JsonObject = { type: 'object', properties: { a: { type: 'string' } } };
  const bench = await scripted(
    t,
    'bedrock',
    [
      refuse(403, 'You invoked an unsupported model or your request did not allow prompt caching.'),
      refuse(400, 'The model returned an error: output_config.format: Extra inputs are not permitted'),
      { text: '{}' },
    ],
    { settings: { model: 'anthropic.claude-x' } },
  );
  const told = await bench.call({ request: { output_schema: schema } });
  t.strictSame(
    told.events.flatMap((event) => (event.kind === 'option_dropped' ? [event.option] : [])),
    ['cache_point', 'response_format'],
  );
  t.strictSame(bench.model.requests[0]?.body.outputConfig, {
    textFormat: {
      type: 'json_schema',
      structure: { jsonSchema: { name: 'answer', schema: JSON.stringify(schema) } },
    },
  });
  t.notMatch(bench.model.requests[1]?.bodyText, 'cachePoint');
  t.notOk('outputConfig' in (bench.model.requests[2]?.body ?? { outputConfig: 1 }));
  t.match(JSON.stringify(bench.model.requests[2]?.body.system), 'matches this JSON Schema');
});
