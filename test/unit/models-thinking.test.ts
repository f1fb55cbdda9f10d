// How hard a reasoning model is to think, in the words of each dialect, and what follows when it refuses to be told.
import t from 'tap';
import type { JsonObject } from '../../shared/json.js';
import type { Message } from '../../shared/transcript/message.js';
import type { ModelRequest } from '../../worker/models/provider.js';
import { modelBench, plannedTool } from '../fakes/model-call.js';
import { answerOf, scripted } from '../fakes/model-contract.js';
import type { FakeStep, HttpDialect } from '../fakes/model-steps.js';

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

const THINKING = { reasoning_effort: 'high', thinking_tokens: 1_000, temperature: null } as const;

t.test('each dialect says in its own words how hard to think, and leaves room for it', async (t) => {
  const chat = await bodyFor('openai', {}, { ...THINKING, model: 'gpt-5.1', max_output_tokens: 500 });
  t.match(chat, { reasoning_effort: 'high', max_completion_tokens: 1_500 });
  t.notOk('temperature' in chat);
  const responses = await bodyFor('openai_responses', {}, { ...THINKING, max_output_tokens: 500 });
  t.match(responses, { reasoning: { effort: 'high' }, max_output_tokens: 1_500 });
  const claude = await bodyFor('anthropic', {}, { ...THINKING, model: 'claude-opus-5-5' });
  t.match(claude, {
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    max_tokens: 8_192 + 1_000,
  });
  const bedrock = await bodyFor('bedrock', {}, { ...THINKING, model: 'eu.anthropic.claude-opus-4-6-v1' });
  t.match(bedrock, {
    inferenceConfig: { maxTokens: 8_192 + 1_000 },
    additionalModelRequestFields: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  });
  const open = await bodyFor('bedrock', {}, { ...THINKING, model: 'openai.gpt-oss-120b-1:0' });
  t.strictSame(open.additionalModelRequestFields, { reasoning_effort: 'high' });
});

t.test('no cap is sent where none is set, and nothing of thinking to a model that does not', async (t) => {
  const chat = await bodyFor('openai', {}, { ...THINKING, model: 'gpt-5.1' });
  t.notOk('max_completion_tokens' in chat || 'max_tokens' in chat);
  for (const dialect of ['openai', 'openai_responses', 'anthropic', 'bedrock'] as const) {
    const body = await bodyFor(dialect, {}, { model: 'anthropic.claude-opus-5-5' });
    const words = JSON.stringify({ ...body, include: null });
    t.notMatch(words, /effort|"thinking"|"reasoning"/, dialect);
  }
});

t.test('efforts that a family does not know become its nearest', async (t) => {
  const sent = async (dialect: HttpDialect, reasoning_effort: string): Promise<string> =>
    JSON.stringify(await bodyFor(dialect, {}, { ...THINKING, model: 'claude-opus-5-5', reasoning_effort }));
  t.match(await sent('openai', 'max'), '"reasoning_effort":"xhigh"');
  t.match(await sent('anthropic', 'max'), '"effort":"max"');
  t.match(await sent('anthropic', 'minimal'), '"effort":"low"');
});

t.test(
  'an earlier Claude is given tokens to think in, but not in the middle of calls without a thought',
  async (t) => {
    for (const model of [
      'claude-opus-4-5',
      'claude-sonnet-4-20250514',
      'claude-3-7-sonnet-latest',
      'claude-opus-4-1-20250805',
    ])
      t.strictSame(
        (await bodyFor('anthropic', {}, { ...THINKING, thinking_tokens: 4_096, model })).thinking,
        { type: 'enabled', budget_tokens: 4_096 },
        model,
      );
    const asked = (reasoning: readonly { model: string; data: JsonObject }[]): readonly Message[] => [
      { role: 'user', text: 'Look.' },
      {
        role: 'assistant',
        text: '',
        calls: [{ call_id: 'c1', name: 'plan.get', arguments: {} }],
        reasoning: [...reasoning],
      },
      { role: 'tool', call_id: 'c1', name: 'plan.get', content: 'x', is_error: false },
    ];
    const model = 'claude-opus-4-5';
    const tools = [plannedTool('plan.get')];
    const without = await bodyFor('anthropic', { messages: asked([]), tools }, { ...THINKING, model });
    t.notOk('thinking' in without, 'it would be refused');
    const own = [{ model, data: { type: 'thinking', thinking: 'hm', signature: 's' } }];
    const goesOn = await bodyFor('anthropic', { messages: asked(own), tools }, { ...THINKING, model });
    t.match(goesOn.thinking, { type: 'enabled' });
    const later = await bodyFor(
      'anthropic',
      { messages: asked([]), tools },
      { ...THINKING, model: 'claude-opus-5-5' },
    );
    t.match(later.thinking, { type: 'adaptive' }, 'later ones do not mind');
  },
);

t.test('an effort and a schema stand side by side, and each can be refused alone', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const refuse = (message: string): FakeStep => ({
    status: 400,
    body: { error: { type: 'invalid_request_error', message } },
  });
  const bench = await scripted(
    t,
    'anthropic',
    [
      refuse('output_config.effort: This model does not support the effort parameter. unsupported'),
      refuse('adaptive thinking is not supported on this model'),
      { text: '{}' },
    ],
    { settings: { ...THINKING, model: 'claude-other' } },
  );
  const told = await bench.call({ request: { output_schema: schema } });
  t.strictSame(bench.model.requests[0]?.body.output_config, {
    effort: 'high',
    format: { type: 'json_schema', schema },
  });
  t.strictSame(
    told.events.flatMap((event) => (event.kind === 'option_dropped' ? [event.option] : [])),
    ['effort', 'thinking'],
  );
  t.strictSame(bench.model.requests[2]?.body.output_config, {
    format: { type: 'json_schema', schema },
  });
  t.equal(bench.model.requests[2]?.body.thinking, undefined);
});

t.test('an effort that is refused is left out, and the answer comes', async (t) => {
  for (const [dialect, message, param] of [
    [
      'openai',
      "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
      'reasoning_effort',
    ],
    [
      'openai_responses',
      "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
      'reasoning.effort',
    ],
  ] as const) {
    const bench = await scripted(
      t,
      dialect,
      [{ status: 400, body: { error: { type: 'invalid_request_error', message, param } } }, { text: 'ok' }],
      { settings: THINKING },
    );
    t.equal(answerOf(await bench.call()).text, 'ok', dialect);
    t.notMatch(bench.model.requests[1]?.bodyText, 'effort', dialect);
    bench.model.assertDone();
  }
});

t.test('on Bedrock an earlier Claude has room beside its thinking', async (t) => {
  const body = await bodyFor(
    'bedrock',
    {},
    { ...THINKING, thinking_tokens: 16_384, model: 'us.anthropic.claude-sonnet-4-5-v1:0' },
  );
  t.match(body, {
    inferenceConfig: { maxTokens: 16_384 + 8_192 },
    additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 16_384 } },
  });
});
