// How requests look on the wire in each dialect, and what the pure parts decide.
import t from 'tap';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { Message } from '../../shared/transcript/message.js';
import type { ModelRequest } from '../../worker/models/provider.js';
import type { CallFailure } from '../../worker/models/refusals.js';
import { nextStep, retryAfterMs } from '../../worker/models/retry.js';
import { AWS_KEYS, modelBench, plannedTool } from '../fakes/model-call.js';
import { answerOf, forEveryDialect, scripted } from '../fakes/model-contract.js';
import type { FakeStep, HttpDialect } from '../fakes/model-steps.js';

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
        model: 'test-model',
        data: { type: 'thinking', thinking: 'hm', signature: 's', reasoning_content: 'hm' },
      },
      { model: 'test-model', data: { type: 'thinking', thinking: 'unsigned', signature: '' } },
      {
        model: 'other',
        data: { type: 'thinking', thinking: 'foreign', signature: 's', reasoning_content: 'foreign' },
      },
    ],
  },
  { role: 'tool', call_id: 'c1', name: 'plan.get', content: { steps: [] }, is_error: false },
  { role: 'tool', call_id: 'c2', name: 'old.tool!', content: '', is_error: true },
  { role: 'note', text: 'The turn was cancelled.' },
  { role: 'user', text: 'Half \ud83d and NUL \0.' },
  { role: 'assistant', text: '', calls: [] },
];

/** The body that one call sends. */
async function bodyFor(
  dialect: HttpDialect,
  request: Partial<ModelRequest>,
  settings = {},
): Promise<JsonObject> {
  const bench = await modelBench({ dialect, script: [{ text: 'ok' }], settings });
  try {
    answerOf(await bench.call({ request: { ...request } }));
    bench.model.assertDone();
    return bench.model.requests[0]?.body ?? {};
  } finally {
    await bench.close();
  }
}

function at(value: JsonValue | undefined, ...path: readonly (string | number)[]): JsonValue | undefined {
  let found = value;
  for (const key of path)
    found = typeof found === 'object' && found !== null ? (found as JsonObject)[String(key)] : undefined;
  return found;
}

t.test('openai: history, tools and notes take the form of the dialect', async (t) => {
  const body = await bodyFor('openai', { messages: HISTORY, tools: [plannedTool('plan.get')] });
  t.strictSame(body.messages, [
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: 'Plan: none.' },
    { role: 'user', content: 'Look.' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'hm',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'plan_get', arguments: '{}' } },
        { id: 'c2', type: 'function', function: { name: 'old_tool_', arguments: '{"x":1}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '{"steps":[]}' },
    { role: 'tool', tool_call_id: 'c2', content: 'ERROR: (no output)' },
    { role: 'system', content: '[note] The turn was cancelled.' },
    { role: 'user', content: 'Half \ufffd and NUL \ufffd.' },
  ]);
  t.strictSame(at(body.tools, 0, 'function', 'name'), 'plan_get');
  t.strictSame(body.stream_options, { include_usage: true });
});

t.test(
  'anthropic: system text is hoisted, sides alternate, results come first, four places are cached',
  async (t) => {
    const body = await bodyFor('anthropic', { messages: HISTORY, tools: [plannedTool('plan.get')] });
    const cache_control = { type: 'ephemeral' };
    t.strictSame(body.system, [
      { type: 'text', text: 'Be brief.', cache_control },
      { type: 'text', text: 'Plan: none.' },
    ]);
    t.strictSame(body.messages, [
      { role: 'user', content: [{ type: 'text', text: 'Look.', cache_control }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's', reasoning_content: 'hm' },
          { type: 'tool_use', id: 'c1', name: 'plan_get', input: {} },
          { type: 'tool_use', id: 'c2', name: 'old_tool_', input: { x: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: '{"steps":[]}' },
          { type: 'tool_result', tool_use_id: 'c2', content: '(no output)', is_error: true },
          { type: 'text', text: '[note] The turn was cancelled.' },
          { type: 'text', text: 'Half \ufffd and NUL \ufffd.', cache_control },
        ],
      },
    ]);
    t.strictSame(at(body.tools, 0, 'cache_control'), cache_control);
    t.equal(body.max_tokens, 8192);
  },
);

t.test('anthropic: a history that begins or ends with the assistant is framed by notes', async (t) => {
  const body = await bodyFor('anthropic', { messages: [{ role: 'assistant', text: 'Well.', calls: [] }] });
  t.strictSame(
    (Array.isArray(body.messages) ? body.messages : []).map((message) => at(message, 'role')),
    ['user', 'assistant', 'user'],
  );
});

forEveryDialect('the key travels in its header, beside those of the configuration', async (t, dialect) => {
  const bench = await scripted(t, dialect, [{ text: 'ok' }, { text: 'ok' }]);
  await bench.call({
    settings: { headers: { 'x-team': 'a' } },
    credentials: { headers: { 'x-secret': 'b' } },
  });
  const headers = bench.model.requests[0]?.headers ?? {};
  if (dialect === 'bedrock')
    t.notMatch(JSON.stringify(headers), 'canary-key-123', 'a secret that signs never travels');
  else if (dialect === 'anthropic') t.equal(headers['x-api-key'], 'canary-key-123');
  else t.equal(headers.authorization, 'Bearer canary-key-123');
  t.match(headers, { 'x-team': 'a', 'x-secret': 'b', 'content-type': 'application/json' });
  const aws = { ...AWS_KEYS, session_token: 'line\nbreak' };
  const broken = await bench.call({
    credentials: dialect === 'bedrock' ? { aws } : { token: 'line\nbreak' },
  });
  t.match(broken.outcome, { kind: 'failed', code: 'model_rejected' });
  t.notMatch(JSON.stringify(broken), 'break');
  t.match((await bench.call({ settings: { url: 'nowhere' } })).outcome, {
    kind: 'failed',
    code: 'model_rejected',
  });
});

t.test('openai: the output cap has the name that the model takes', async (t) => {
  const capped = (model: string, omit: string[] = []): Promise<JsonObject> =>
    bodyFor('openai', {}, { model, max_output_tokens: 7, omit });
  t.equal((await capped('gpt-4o')).max_tokens, 7);
  for (const model of ['gpt-5-mini', 'o1', 'o3-mini', 'openai/o4-mini'])
    t.equal((await capped(model)).max_completion_tokens, 7, model);
  t.equal((await capped('olmo3')).max_tokens, 7);
  t.equal((await capped('some', ['max_tokens'])).max_completion_tokens, 7);
  const none = await capped('some', ['max_tokens', 'max_completion_tokens', 'stream_options']);
  t.notOk('max_tokens' in none || 'max_completion_tokens' in none || 'stream_options' in none);
});

t.test('openai: each option that is refused is left out in turn', async (t) => {
  const refuse = (message: string): FakeStep => ({ status: 400, body: { error: { message } } });
  const bench = await scripted(t, 'openai', [
    refuse(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    refuse('stream_options: Extra inputs are not permitted'),
    refuse("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
    { text: '{}' },
  ]);
  const told = await bench.call({
    settings: { max_output_tokens: 9 },
    request: { output_schema: { type: 'object', properties: {}, additionalProperties: false } },
  });
  t.strictSame(
    told.events.flatMap((event) => (event.kind === 'option_dropped' ? [event.option] : [])),
    ['max_tokens', 'stream_options', 'response_format'],
  );
  t.equal(bench.model.requests[1]?.body.max_completion_tokens, 9);
  t.equal(answerOf(told).usage, null, 'no numbers without stream_options');
  t.equal(at(bench.model.requests[0]?.body, 'response_format', 'json_schema', 'strict'), true);
  bench.model.assertDone();
});

t.test('anthropic: a schema asks for structured output, and cache markers can be left out', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const bench = await scripted(t, 'anthropic', [
    {
      status: 400,
      body: {
        error: {
          type: 'invalid_request_error',
          message: 'system.0.cache_control: Extra inputs are not permitted',
        },
      },
    },
    {
      status: 400,
      body: {
        error: {
          type: 'invalid_request_error',
          message: 'output_config: this model does not support structured outputs',
        },
      },
    },
    { text: '{}' },
  ]);
  const told = await bench.call({ request: { output_schema: schema } });
  t.strictSame(at(bench.model.requests[0]?.body, 'output_config', 'format'), { type: 'json_schema', schema });
  t.strictSame(
    told.events.flatMap((event) => (event.kind === 'option_dropped' ? [event.option] : [])),
    ['cache_control', 'response_format'],
  );
  t.notMatch(bench.model.requests[2]?.bodyText, 'cache_control');
});

t.test('both forms of Retry-After are read, and nonsense is not', async (t) => {
  const now = Date.parse('2026-05-01T00:00:00Z');
  t.equal(retryAfterMs('7200', now), 7_200_000);
  t.equal(retryAfterMs('0.5', now), 500);
  t.equal(retryAfterMs('Fri, 01 May 2026 00:01:00 GMT', now), 60_000);
  t.equal(retryAfterMs('Wed, 21 Oct 2015 07:28:00 GMT', now), 0);
  for (const bad of [undefined, '', 'soon', '-5', '1e9', 'NaN'])
    t.equal(retryAfterMs(bad, now), null, String(bad));
});

t.test('waits grow with jitter, stay bounded, and are not begun when the deadline is nearer', async (t) => {
  const bench = await scripted(t, 'openai', []);
  const failure: CallFailure = {
    code: 'model_unreachable',
    message: 'm',
    reason: 'r',
    retry: true,
    retryAfterMs: null,
    option: null,
  };
  const delay = (retried: number, random: number, leftMs = 1e9): number | string => {
    const step = nextStep(failure, { ...bench.settings, retries: 99 }, { retried, leftMs, nowMs: 0, random });
    return step.kind === 'retry' ? step.delayMs : step.kind;
  };
  t.equal(delay(0, 0), 250);
  t.equal(delay(0, 0.999), 500);
  t.equal(delay(3, 0), 2_000);
  t.equal(delay(50, 0.999), 29_985);
  t.equal(delay(0, 0, 200), 'give_up');
});
