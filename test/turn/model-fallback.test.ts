// Another model goes on with a turn when no endpoint of its own serves: between two requests, with nothing lost and
// nothing shared that only the first may see.
import t from 'tap';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { ModelOutcome } from '../../worker/models/provider.js';
import { playTurn, SETTINGS } from '../fakes/played-turn.js';
import { answer, asks, type ModelStep, says } from '../fakes/scripted-provider.js';

const SPARE: ModelSettings = { ...SETTINGS, model: 'spare', url: 'http://127.0.0.1:8/v1/chat/completions' };
const LAST: ModelSettings = { ...SETTINGS, model: 'last', url: 'http://127.0.0.1:7/v1/chat/completions' };

const SNAPSHOT = { fallbacks: [SPARE, LAST] };
const CREDENTIALS = {
  token: 'key-of-scripted',
  mask: ['key-of-scripted', 'key-of-spare'],
  fallbacks: [{ headers: {}, token: 'key-of-spare' }, { headers: { 'x-last': '1' } }],
};

function failed(code: 'model_unreachable' | 'model_rate_limited' | 'model_rejected'): ModelOutcome {
  return { kind: 'failed', code, message: `the server says ${code}`, charged: null };
}

const play = (steps: readonly ModelStep[], more = {}) =>
  playTurn({ steps, snapshot: SNAPSHOT, credentials: CREDENTIALS, ...more });

t.test('the round that failed is asked of the fallback, with its credentials and no others', async (t) => {
  const { outcome, provider, link } = await play([failed('model_unreachable'), says('hello')]);
  t.match(outcome, { status: 'completed', reply: 'hello' });
  t.strictSame(
    provider.requests.map(({ settings, credentials }) => [settings.model, settings.url, credentials.token]),
    [
      ['scripted', SETTINGS.url, 'key-of-scripted'],
      ['spare', SPARE.url, 'key-of-spare'],
    ],
  );
  t.strictSame(provider.requests[1]?.credentials.mask, CREDENTIALS.mask, 'all secrets stay masked');
  t.strictSame(provider.requests[1]?.messages, provider.requests[0]?.messages);
  t.match(link.told('model_fallback'), [
    { from: 'scripted', to: 'spare', reason: 'the server says model_unreachable' },
  ]);
});

t.test('what it cost is booked under the model that answered', async (t) => {
  const { link } = await play([
    {
      ...failed('model_unreachable'),
      charged: { input_tokens: 7, output_tokens: 1, cached_tokens: 0, estimated: false },
    } as ModelOutcome,
    answer({ text: 'hello', model: 'spare-2026' }),
  ]);
  t.match(link.told('usage'), [
    { call_index: 1, model: 'scripted', asked: undefined, usage: { input_tokens: 7 } },
    { call_index: 2, model: 'spare-2026', asked: 'spare', usage: { input_tokens: 100 } },
  ]);
});

t.test('the turn stays with the fallback, and reasoning of the model before is not sent to it', async (t) => {
  const { outcome, provider } = await play(
    [
      answer({
        calls: [{ provider_id: 'c', wire_name: 'plan_get', arguments_text: '{}' }],
        reasoning: ['sealed'],
      }),
      failed('model_rate_limited'),
      asks(['plan_get', {}]),
      says('done'),
    ],
    { tools: { 'plan.get': () => 'none' } },
  );
  t.match(outcome, { status: 'completed', reply: 'done' });
  t.strictSame(
    provider.requests.map(({ settings }) => settings.model),
    ['scripted', 'scripted', 'spare', 'spare'],
  );
  t.match(JSON.stringify(provider.requests[1]?.messages), 'sealed', 'back to its own model');
  for (const later of provider.requests.slice(2)) t.notMatch(JSON.stringify(later.messages), 'sealed');
});

t.test('even a fallback of the same name is shown no sealed reasoning: it is another server', async (t) => {
  const twin = { ...SPARE, model: SETTINGS.model };
  const { provider } = await play(
    [
      answer({
        calls: [{ provider_id: 'c', wire_name: 'plan_get', arguments_text: '{}' }],
        reasoning: ['sealed'],
      }),
      failed('model_unreachable'),
      says('done'),
    ],
    { tools: { 'plan.get': () => 'none' }, snapshot: { fallbacks: [twin] } },
  );
  t.equal(provider.requests[2]?.settings.url, SPARE.url);
  t.notMatch(JSON.stringify(provider.requests[2]?.messages), 'sealed');
});

t.test('each fallback is asked once, and the end says what the last of them said', async (t) => {
  const { outcome, provider } = await play([
    failed('model_unreachable'),
    failed('model_unreachable'),
    failed('model_rate_limited'),
  ]);
  t.match(outcome, { status: 'failed', error: { code: 'model_rate_limited' } });
  t.strictSame(
    provider.requests.map(({ settings }) => settings.model),
    ['scripted', 'spare', 'last'],
  );
});

t.test('a request that is wrong is wrong everywhere', async (t) => {
  const { outcome, provider } = await play([failed('model_rejected')]);
  t.match(outcome, { status: 'failed', error: { code: 'model_rejected' } });
  t.equal(provider.requests.length, 1);
});

t.test('a request that no server took is not one of the rounds of the turn', async (t) => {
  const { outcome } = await play([failed('model_unreachable'), says('hello')], { limits: { rounds: 1 } });
  t.match(outcome, { status: 'completed', reply: 'hello' });
});

t.test('the budget is asked for the fallback by its name', async (t) => {
  const { outcome, link } = await play([failed('model_unreachable'), says('hello')], {
    snapshot: { ...SNAPSHOT, budget_admission: true },
  });
  t.equal(outcome.status, 'completed');
  t.strictSame(link.askedFor, [undefined, 'spare']);
});

t.test('an option that the fallback refuses is told of the fallback', async (t) => {
  const { link } = await play([
    failed('model_unreachable'),
    (_request, tell) => {
      tell({ kind: 'option_dropped', option: 'temperature' });
      return says('hello');
    },
  ]);
  t.strictSame(link.told('option_dropped'), [
    { event: 'option_dropped', option: 'temperature', model: 'spare' },
  ]);
});

t.test('how endpoints fare is told only where there is another way', async (t) => {
  const steps: ModelStep[] = [
    (_request, tell) => {
      tell({ kind: 'endpoint', url: 'u', works: false, reason: 'no connection' });
      tell({ kind: 'endpoint', url: 'u', works: true, reason: '' });
      return says('hello');
    },
  ];
  const alone = await playTurn({ steps });
  t.equal(alone.link.told('endpoint_failed').length + alone.link.told('endpoint_ok').length, 0);
  const { link } = await play(steps);
  t.strictSame(link.told('endpoint_failed'), [
    { event: 'endpoint_failed', url: 'u', reason: 'no connection' },
  ]);
  t.strictSame(link.told('endpoint_ok'), [{ event: 'endpoint_ok', url: 'u' }]);
});
