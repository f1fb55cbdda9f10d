// The responses dialect: how a request looks, what its stream may leave out, and how an answer is held to a schema here
// and in the other dialects.
import t from 'tap';
import type { JsonObject } from '../../shared/json.js';
import type { Message } from '../../shared/transcript/message.js';
import { plannedTool } from '../fakes/model-call.js';
import { answerOf, failureOf, forEveryDialect, scripted, textOf } from '../fakes/model-contract.js';
import type { FakeStep } from '../fakes/model-steps.js';

const sealed = (seal: string): JsonObject => ({
  type: 'reasoning',
  id: `rs_${seal}`,
  summary: [],
  encrypted_content: seal,
});

const HISTORY: readonly Message[] = [
  { role: 'system', text: 'Plan: none.' },
  { role: 'user', text: 'Look.' },
  {
    role: 'assistant',
    text: 'I look.',
    calls: [
      { call_id: 'c1', name: 'plan.get', arguments: {} },
      { call_id: 'c2', name: 'old.tool!', arguments: { x: 1 } },
    ],
    reasoning: [
      { model: 'test-model', data: sealed('own') },
      { model: 'test-model', data: sealed('') },
      { model: 'other', data: sealed('foreign') },
    ],
  },
  { role: 'tool', call_id: 'c1', name: 'plan.get', content: { steps: [] }, is_error: false },
  { role: 'tool', call_id: 'c2', name: 'old.tool!', content: '', is_error: true },
  { role: 'note', text: 'The turn was cancelled.' },
  { role: 'user', text: 'Half \ud83d and NUL \0.' },
  { role: 'assistant', text: '', calls: [], reasoning: [{ model: 'test-model', data: sealed('alone') }] },
];

t.test('history, tools and options take the form of items', async (t) => {
  const bench = await scripted(t, 'openai_responses', [{ text: 'ok' }], {
    settings: { max_output_tokens: 7 },
  });
  await bench.call({ request: { messages: HISTORY, tools: [plannedTool('plan.get')] } });
  const input = (role: string, text: string): JsonObject => ({
    type: 'message',
    role,
    content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  });
  t.strictSame(bench.model.requests[0]?.body, {
    model: 'test-model',
    stream: true,
    instructions: 'Be brief.',
    store: false,
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 16,
    tools: [
      {
        type: 'function',
        name: 'plan_get',
        description: 'Does plan.get.',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
    ],
    input: [
      input('system', 'Plan: none.'),
      input('user', 'Look.'),
      sealed('own'),
      input('assistant', 'I look.'),
      { type: 'function_call', call_id: 'c1', name: 'plan_get', arguments: '{}' },
      { type: 'function_call', call_id: 'c2', name: 'old_tool_', arguments: '{"x":1}' },
      { type: 'function_call_output', call_id: 'c1', output: '{"steps":[]}' },
      { type: 'function_call_output', call_id: 'c2', output: 'ERROR: (no output)' },
      input('system', '[note] The turn was cancelled.'),
      input('user', 'Half \ufffd and NUL \ufffd.'),
    ],
  });
  bench.model.assertDone();
});

t.test('models that do not reason are not asked for sealed reasoning, others once', async (t) => {
  const refused: FakeStep = {
    status: 400,
    body: {
      error: {
        type: 'invalid_request_error',
        param: 'include',
        message: 'Encrypted content is not supported with this model.',
      },
    },
  };
  const bench = await scripted(t, 'openai_responses', [{ text: 'a' }, refused, { text: 'b' }]);
  await bench.call({ settings: { model: 'gpt-4.1' } });
  t.notOk('include' in (bench.model.requests[0]?.body ?? { include: 1 }));
  const told = await bench.call();
  t.strictSame(told.events[0], { kind: 'option_dropped', option: 'include' });
  t.notOk('include' in (bench.model.requests[2]?.body ?? { include: 1 }));
  bench.model.assertDone();
});

const event = (type: string, fields: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const completed = event('response.completed', { response: { status: 'completed' } });

t.test('a server that sends only whole items is understood, and one that sends only deltas', async (t) => {
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'grep', arguments: '{"a":1}' };
  const text = { type: 'message', content: [{ type: 'output_text', text: 'Hi.' }] };
  const begun = { type: 'function_call', call_id: 'c1', name: 'grep' };
  const bench = await scripted(t, 'openai_responses', [
    {
      raw: [
        event('response.output_item.done', { output_index: 0, item: text }),
        event('response.output_item.done', { output_index: 1, item: call }),
        completed,
      ],
    },
    {
      raw: [
        event('response.output_text.delta', { output_index: 0, delta: 'Hi.' }),
        event('response.output_item.added', { output_index: 1, item: begun }),
        event('response.function_call_arguments.delta', { output_index: 1, delta: '{"a"' }),
        event('response.function_call_arguments.delta', { output_index: 1, delta: ':1}' }),
        completed,
      ],
    },
    {
      raw: [
        event('response.output_text.delta', { item_id: 'm', delta: 'Hi.' }),
        event('response.output_item.added', { item: { ...call, arguments: '' } }),
        event('response.function_call_arguments.done', { item_id: 'fc_1', arguments: '{"a":1}' }),
        completed,
      ],
    },
  ]);
  for (const _ of [1, 2, 3]) {
    const told = await bench.call();
    t.equal(textOf(told), 'Hi.');
    t.match(answerOf(told), {
      text: 'Hi.',
      stop: 'tool_calls',
      usage: null,
      model: 'test-model',
      calls: [{ provider_id: 'c1', wire_name: 'grep', arguments_text: '{"a":1}' }],
    });
  }
});

t.test('a refusal is told as one, streamed or whole', async (t) => {
  const whole = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] };
  const bench = await scripted(t, 'openai_responses', [
    { raw: [event('response.refusal.delta', { output_index: 0, delta: 'No.' }), completed] },
    { raw: [event('response.output_item.done', { output_index: 0, item: whole }), completed] },
  ]);
  for (const _ of [1, 2]) t.match(answerOf(await bench.call()), { text: 'No.', stop: 'refusal' });
});

t.test('a response that fails is classified by its code, and what it cost is kept', async (t) => {
  const failed = (code: string): FakeStep => ({
    raw: event('response.failed', {
      response: {
        status: 'failed',
        error: { code, message: 'words of the peer' },
        usage: { input_tokens: 9, output_tokens: 1 },
      },
    }),
  });
  const cases = [
    ['rate_limit_exceeded', 'model_rate_limited'],
    ['server_error', 'model_unreachable'],
    ['insufficient_quota', 'model_quota_exhausted'],
    ['context_length_exceeded', 'context_exhausted'],
    ['invalid_prompt', 'model_rejected'],
  ] as const;
  const bench = await scripted(
    t,
    'openai_responses',
    cases.map(([code]) => failed(code)),
    { settings: { retries: 0 } },
  );
  for (const [code, meant] of cases) {
    const told = await bench.call();
    t.equal(failureOf(told).code, meant, code);
    t.notMatch(failureOf(told).message, 'words of the peer');
    t.match(told.outcome, { charged: { input_tokens: 9, output_tokens: 1 } });
  }
});

t.test('reasoning is sent back to the model that sealed it, and read as it streams', async (t) => {
  const bench = await scripted(t, 'openai_responses', [
    { reasoning: 'hm', calls: [{ name: 'plan_get', arguments: {} }] },
    { reasoning: 'hm', signature: null, text: 'a' },
  ]);
  const told = await bench.call();
  t.equal(told.events.filter(({ kind }) => kind === 'reasoning').length, 1);
  t.match(answerOf(told).reasoning, [{ type: 'reasoning', encrypted_content: 'sealed-by-the-fake' }]);
  t.strictSame(answerOf(await bench.call()).reasoning, [], 'what is not sealed cannot be read again');
});

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};
const NATIVE = /"(?:response_format|format|outputConfig)":/;
const WORDS = /must be one JSON value that matches this JSON Schema/;

forEveryDialect(
  'an answer is held to a schema by an option, by words, or as the model can',
  async (t, dialect) => {
    const bench = await scripted(t, dialect, [{ text: '{}', times: 4 }, { text: 'prose' }]);
    const sent = async (settings: Parameters<typeof bench.call>[0]): Promise<string> => {
      answerOf(await bench.call({ request: { output_schema: SCHEMA }, ...settings }));
      return bench.model.requests.at(-1)?.bodyText ?? '';
    };
    const auto = await sent({});
    const able = dialect !== 'bedrock';
    t.equal(NATIVE.test(auto), able, 'auto is an option where the dialect has one for every model');
    t.equal(WORDS.test(auto), !able);
    const prompt = await sent({ settings: { structured_output: 'prompt' } });
    t.notMatch(prompt, NATIVE);
    t.match(prompt, WORDS);
    const native = await sent({ settings: { structured_output: 'json_schema' } });
    t.match(native, NATIVE);
    t.notMatch(native, WORDS);
    const refused = await sent({ settings: { structured_output: 'json_schema', omit: ['response_format'] } });
    t.notMatch(refused, NATIVE, 'a refused option is never sent again');
    t.match(refused, WORDS);
    await bench.call();
    t.notMatch(bench.model.requests.at(-1)?.bodyText, WORDS, 'no schema, no words');
    bench.model.assertDone();
  },
);

t.test('a schema that the provider will not hold an answer to is told in words', async (t) => {
  const refused: FakeStep = {
    status: 400,
    body: {
      error: {
        type: 'invalid_request_error',
        code: 'invalid_json_schema',
        param: 'text.format.schema',
        message: "Invalid schema for response_format 'answer': 'oneOf' is not permitted.",
      },
    },
  };
  const bench = await scripted(t, 'openai_responses', [refused, { text: '{}' }]);
  const told = await bench.call({ request: { output_schema: SCHEMA } });
  t.strictSame(told.events[0], { kind: 'option_dropped', option: 'response_format' });
  t.match(bench.model.requests[0]?.body.text, { format: { type: 'json_schema', strict: true } });
  t.match(String(bench.model.requests[1]?.body.instructions), WORDS);
});
