// What a call is said to have cost: the provider's own numbers, each class of tokens once, whatever form they come in.
import t from 'tap';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { Usage } from '../../shared/transcript/usage.js';
import { costMicros } from '../../supervisor/budgets/prices.js';
import { answerOf, scripted } from '../fakes/model-contract.js';
import type { FakeStep } from '../fakes/model-steps.js';

const event = (name: string, data: JsonObject): string =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;

/** A stream that counts at its start, and thrice more as it goes. */
function messages(start: JsonValue, ...deltas: readonly JsonValue[]): FakeStep {
  const raw = [
    event('message_start', { message: { model: 'test-model', usage: start } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'ok' } }),
    event('content_block_stop', { index: 0 }),
    ...deltas.map((usage) => event('message_delta', { delta: { stop_reason: 'end_turn' }, usage })),
    event('message_stop', {}),
  ];
  return { raw: raw.join('') };
}

function chunks(...usages: readonly JsonValue[]): FakeStep {
  const chunk = (more: JsonObject): string =>
    `data: ${JSON.stringify({ model: 'test-model', choices: [], ...more })}\n\n`;
  const said = [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }];
  const raw = [chunk({ choices: said }), ...usages.map((usage) => chunk({ usage })), 'data: [DONE]\n\n'];
  return { raw: raw.join('') };
}

async function usageOver(
  test: Parameters<typeof scripted>[0],
  dialect: 'anthropic' | 'openai',
  ...script: readonly FakeStep[]
): Promise<Usage | null> {
  const bench = await scripted(test, dialect, script);
  const answer = answerOf(await bench.call());
  bench.model.assertDone();
  return answer.usage;
}

const PRICES = { 'test-model': { input: 3, output: 15, cached: 0.3, written: 3.75 } };
const START = {
  input_tokens: 10,
  cache_read_input_tokens: 90_000,
  cache_creation_input_tokens: 400,
  output_tokens: 1,
};
const WHOLE: Usage = {
  input_tokens: 90_410,
  output_tokens: 20,
  cached_tokens: 90_000,
  written_tokens: 400,
  estimated: false,
};

t.test('counts that grow as the stream goes are the same count, not more of it', async (t) => {
  const usage = await usageOver(
    t,
    'anthropic',
    messages(START, { output_tokens: 5 }, { output_tokens: 10 }, { output_tokens: 20 }),
  );
  t.strictSame(usage, WHOLE);
  t.equal(costMicros(PRICES, ['test-model'], usage ?? WHOLE), 30 + 27_000 + 1_500 + 300, 'exact, by class');
  const repeated = { ...START, output_tokens: 20 };
  t.strictSame(await usageOver(t, 'anthropic', messages(START, repeated)), WHOLE, 'the start said again');
  const grown = (prompt: number, completion: number): JsonObject => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: { cached_tokens: 90_000 },
  });
  t.strictSame(await usageOver(t, 'openai', chunks(grown(90_010, 5), grown(90_010, 10), grown(90_010, 20))), {
    input_tokens: 90_010,
    output_tokens: 20,
    cached_tokens: 90_000,
    estimated: false,
  });
});

t.test('an attempt that failed after it counted is charged once, beside the one that answered', async (t) => {
  const broken: FakeStep = {
    raw:
      event('message_start', { message: { model: 'test-model', usage: START } }) +
      event('error', { error: { type: 'overloaded_error', message: 'busy' } }),
  };
  const usage = await usageOver(t, 'anthropic', broken, messages(START, { output_tokens: 20 }));
  t.strictSame(usage, {
    input_tokens: 180_820,
    output_tokens: 21,
    cached_tokens: 180_000,
    written_tokens: 800,
    estimated: false,
  });
});

t.test('digits in text count, null and words do not, and no count is never zero', async (t) => {
  const text = { ...START, input_tokens: '10', cache_read_input_tokens: '90000' };
  t.strictSame(await usageOver(t, 'anthropic', messages(text, { output_tokens: '20' })), WHOLE);
  const nulls = { ...START, cache_read_input_tokens: null, cache_creation_input_tokens: null };
  t.strictSame(await usageOver(t, 'anthropic', messages(nulls, { output_tokens: null })), {
    input_tokens: 10,
    output_tokens: 1,
    cached_tokens: 0,
    estimated: false,
  });
  for (const usage of [
    null,
    {},
    { prompt_tokens: null, completion_tokens: 5 },
    { prompt_tokens: 'many', completion_tokens: 5 },
    { prompt_tokens: -1, completion_tokens: 2 },
    { prompt_tokens: 1.5, completion_tokens: 2 },
  ])
    t.equal(await usageOver(t, 'openai', chunks(usage)), null, JSON.stringify(usage));
  t.equal(await usageOver(t, 'openai', chunks()), null, 'none at all');
});

t.test('a price that nobody knows gives no cost, not a cost of nothing', (t) => {
  t.equal(costMicros(PRICES, ['unheard-of'], WHOLE), null);
  t.end();
});
