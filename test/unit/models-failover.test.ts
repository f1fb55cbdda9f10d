// Several endpoints of one model: a call goes on at the next one when one cannot serve, turns remember which did, and the
// supervisor leaves one alone that keeps failing.
import t, { type Test } from 'tap';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import { EndpointHealth } from '../../supervisor/intelligence/endpoint-health.js';
import { ModelMemory } from '../../supervisor/intelligence/model-memory.js';
import { FakeClock } from '../fakes/fake-clock.js';
import { type FakeModel, startFakeModel } from '../fakes/fake-model-server.js';
import { type Bench, modelBench } from '../fakes/model-call.js';
import type { FakeStep } from '../fakes/model-steps.js';
import { MODEL } from '../fakes/turn-frame.js';

/** A port of this machine on which nobody listens. */
const DEAD = 'http://127.0.0.1:1/v1/chat/completions';

async function server(t: Test, script: readonly FakeStep[]): Promise<FakeModel> {
  const model = await startFakeModel({ script });
  t.teardown(() => model.close());
  return model;
}

async function benchOver(
  t: Test,
  script: readonly FakeStep[],
  settings: Partial<ModelSettings> = {},
): Promise<Bench> {
  const bench = await modelBench({ dialect: 'openai', script, settings });
  t.teardown(() => bench.close());
  return bench;
}

const BROKEN: FakeStep = { status: 503, body: {} };
const LIMITED: FakeStep = { status: 429, headers: { 'retry-after': '1' }, body: {} };

t.test('an endpoint that nobody answers at costs no wait, and is tried last from then on', async (t) => {
  const bench = await benchOver(t, [{ text: 'one', times: 2 }]);
  const urls = { url: DEAD, urls: [bench.settings.url] };
  const first = await bench.call({ settings: urls });
  t.match(first.outcome, { kind: 'answer', answer: { text: 'one' } });
  t.strictSame(
    first.events.map(({ kind }) => kind),
    ['text'],
    'no retry was waited for',
  );
  t.match(first.endpoints, [
    { url: DEAD, works: false, reason: 'no connection' },
    { url: bench.settings.url, works: true },
  ]);
  const second = await bench.call({ settings: urls });
  t.match(second.outcome, { kind: 'answer' });
  t.strictSame(second.endpoints, [], 'straight to the one that works, and nothing new to tell');
  bench.model.assertDone();
});

t.test('a server error goes on at the next endpoint, and what it streamed before is void', async (t) => {
  const other = await server(t, [{ text: 'from the other', times: 2 }]);
  const bench = await benchOver(t, [
    BROKEN,
    { text: 'half of an answer', pieces: 4, breakOff: { after: 3, how: 'drop' } },
  ]);
  const settings = { urls: [other.openaiUrl] };
  const told = await bench.call({ settings });
  t.match(told.outcome, { kind: 'answer', answer: { text: 'from the other' } });
  const fresh = await benchOver(t, [
    { text: 'half of an answer', pieces: 4, breakOff: { after: 3, how: 'drop' } },
  ]);
  const cut = await fresh.call({ settings });
  t.match(cut.outcome, { kind: 'answer', answer: { text: 'from the other' } });
  t.ok(
    cut.events.some(({ kind }) => kind === 'restart'),
    'said before the other begins',
  );
  t.equal(
    cut.events.some(({ kind }) => kind === 'retry'),
    false,
  );
});

t.test('a limit of the rate is sat out first, then the next endpoint is asked', async (t) => {
  const other = await server(t, [{ text: 'free' }]);
  const bench = await benchOver(t, [{ ...LIMITED, times: 3 }], { retries: 2, urls: [other.openaiUrl] });
  const told = await bench.call();
  t.match(told.outcome, { kind: 'answer', answer: { text: 'free' } });
  t.equal(told.events.filter(({ kind }) => kind === 'retry').length, 2);
  bench.model.assertDone();
  other.assertDone();
});

t.test(
  'when all endpoints fail they are asked again together, and no longer than the retries allow',
  async (t) => {
    const other = await server(t, [{ ...BROKEN, times: 3 }]);
    const bench = await benchOver(t, [{ ...BROKEN, times: 3 }], { retries: 2, urls: [other.openaiUrl] });
    const told = await bench.call();
    t.match(told.outcome, { kind: 'failed', code: 'model_unreachable' });
    t.equal(told.events.filter(({ kind }) => kind === 'retry').length, 2, 'one wait for both');
    bench.model.assertDone();
    other.assertDone();
  },
);

t.test('limits of the rate at one endpoint and errors at the other end in a failure', async (t) => {
  const other = await server(t, [{ ...BROKEN, times: Number.POSITIVE_INFINITY }]);
  const bench = await benchOver(t, [{ ...LIMITED, times: Number.POSITIVE_INFINITY }], {
    retries: 2,
    urls: [other.openaiUrl],
  });
  const told = await bench.call();
  t.equal(told.outcome.kind, 'failed');
  t.ok(bench.model.requests.length + other.requests.length <= 6, 'within the retries of each');
});

t.test('what is wrong with the request is not tried elsewhere', async (t) => {
  const other = await server(t, []);
  const bench = await benchOver(
    t,
    [
      { status: 401, body: {} },
      { status: 400, body: { error: { message: 'prompt is too long' } } },
    ],
    { urls: [other.openaiUrl] },
  );
  t.match((await bench.call()).outcome, { kind: 'failed', code: 'model_rejected' });
  t.match((await bench.call()).outcome, { kind: 'failed', code: 'context_exhausted' });
  t.equal(other.requests.length, 0);
});

t.test('tokens that an endpoint billed before it broke are charged with those of the next', async (t) => {
  const other = await server(t, [{ text: 'whole', usage: { input: 10, output: 5 } }]);
  const bench = await modelBench({
    dialect: 'anthropic',
    script: [{ text: 'half', usage: { input: 7, output: 3 }, breakOff: { after: 3, how: 'drop' } }],
    settings: { urls: [other.anthropicUrl] },
  });
  t.teardown(() => bench.close());
  const { outcome } = await bench.call();
  if (outcome.kind !== 'answer' || outcome.answer.usage === null) throw new Error(`ended ${outcome.kind}`);
  t.equal(outcome.answer.usage.input_tokens, 17, 'both requests');
});

t.test('an endpoint that failed three times is left alone, longer each time, then tried once', async (t) => {
  const clock = new FakeClock();
  const health = new EndpointHealth(clock);
  const order = (): string => {
    const urls = health.inOrder(['a', 'b']);
    health.trying(urls[0] ?? '');
    return urls.join('');
  };
  t.equal(health.failed('a'), false);
  t.equal(health.failed('a'), false);
  t.equal(order(), 'ab', 'twice may be chance');
  t.equal(health.failed('a'), true);
  t.equal(order(), 'ba');
  await clock.advance(4_999);
  t.equal(order(), 'ba');
  await clock.advance(1);
  t.equal(order(), 'ab', 'one turn tries it');
  t.equal(order(), 'ba', 'and no other meanwhile');
  for (const cooldownMs of [10_000, 20_000, 40_000, 60_000, 60_000]) {
    t.equal(health.failed('a'), true);
    t.equal(health.failed('a'), false, 'late news of turns that began before');
    await clock.advance(cooldownMs - 1);
    t.equal(order(), 'ba', `left alone for ${cooldownMs} ms`);
    await clock.advance(1);
    t.equal(order(), 'ab');
  }
  t.equal(health.works('a'), true);
  t.equal(order(), 'ab');
  t.equal(order(), 'ab', 'as before');
  t.equal(health.works('b'), false, 'nothing new');
});

t.test(
  'a success in between starts the count anew, and a try that is never reported is made again',
  async (t) => {
    const clock = new FakeClock();
    const health = new EndpointHealth(clock);
    health.failed('a');
    health.failed('a');
    health.works('a');
    t.equal(health.failed('a'), false);
    health.failed('a');
    health.failed('a');
    await clock.advance(5_000);
    t.strictSame(health.inOrder(['a', 'b']), ['a', 'b']);
    t.strictSame(health.inOrder(['a', 'b']), ['a', 'b'], 'to look is not to try');
    health.trying('a');
    await clock.advance(59_999);
    t.strictSame(health.inOrder(['a', 'b']), ['b', 'a']);
    await clock.advance(1);
    t.strictSame(health.inOrder(['a', 'b']), ['a', 'b']);
  },
);

const reachable = (model: string, url: string, urls: string[] = []) => ({
  settings: { ...MODEL, dialect: 'openai' as const, model, url, ...(urls.length === 0 ? {} : { urls }) },
  credentials: { headers: {}, token: `key-of-${model}` },
});

t.test('a model whose endpoints are all left alone goes behind its fallback, credentials and all', (t) => {
  const memory = new ModelMemory(new FakeClock());
  const chain = { ...reachable('main', 'a', ['b']), fallbacks: [reachable('spare', 'c')] };
  const shown = (): unknown => {
    const { settings, fallbacks, credentials } = memory.arrange(chain);
    return [
      [settings, ...fallbacks].map(({ model, url, urls = [] }) => [model, url, ...urls].join(' ')),
      [credentials, ...(credentials.fallbacks ?? [])].map(({ token }) => token),
    ];
  };
  t.strictSame(shown(), [
    ['main a b', 'spare c'],
    ['key-of-main', 'key-of-spare'],
  ]);
  for (const _ of '123') memory.health.failed('a');
  t.strictSame(shown(), [
    ['main b a', 'spare c'],
    ['key-of-main', 'key-of-spare'],
  ]);
  for (const _ of '123') memory.health.failed('b');
  t.strictSame(shown(), [
    ['spare c', 'main a b'],
    ['key-of-spare', 'key-of-main'],
  ]);
  memory.health.works('a');
  t.strictSame(shown(), [
    ['main a b', 'spare c'],
    ['key-of-main', 'key-of-spare'],
  ]);
  t.end();
});

t.test('a refused option is remembered of the model, whoever asks it, and of no other', (t) => {
  const memory = new ModelMemory(new FakeClock());
  const chain = { ...reachable('main', 'a'), fallbacks: [reachable('spare', 'c')] };
  memory.refuse('spare', 'temperature');
  t.strictSame(memory.arrange(chain).settings.omit, []);
  t.strictSame(memory.arrange(chain).fallbacks[0]?.omit, ['temperature']);
  t.strictSame(memory.settings(reachable('spare', 'elsewhere')).omit, ['temperature']);
  for (let index = 0; index < 300; index += 1) memory.refuse(`model-${index}`, 'x');
  t.strictSame(memory.settings(reachable('model-299', 'u')).omit, ['x']);
  t.strictSame(memory.settings(reachable('spare', 'c')).omit, [], 'what was heard of long ago makes room');
  for (let index = 0; index < 100; index += 1) memory.refuse('main', `option-${index}`);
  t.ok(memory.settings(reachable('main', 'a')).omit.length <= 32);
  t.end();
});
