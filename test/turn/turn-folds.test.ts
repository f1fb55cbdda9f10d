// A turn whose transcript outgrows its window: when it asks for a fold, what it goes on with, and that it ends.
import t from 'tap';
import type { TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import { estimateMessages } from '../../shared/transcript/estimate-tokens.js';
import { messagesOf } from '../../shared/transcript/from-journal.js';
import type { Message } from '../../shared/transcript/message.js';
import type { ModelOutcome } from '../../worker/models/provider.js';
import { plannedTool, playTurn, startTurn, TOOLS } from '../fakes/played-turn.js';
import { answer, says } from '../fakes/scripted-provider.js';

const CONTEXT = { fold_tokens: 2_000, window_tokens: 100_000, folds: 3, fixed_tokens: 100, calibration: 1 };
const long = (chars: number): string => 'lorem ipsum '.repeat(chars / 12);
const crowded: Message[] = [
  { role: 'user', text: long(12_000) },
  { role: 'assistant', text: 'I did', calls: [] },
  { role: 'user', text: 'go' },
];
const summary: Message = { role: 'system', text: '# Summary' };
const folded: Message[] = [summary, { role: 'user', text: 'go' }];
const withContext = (more: Partial<TurnSnapshot> = {}): Partial<TurnSnapshot> => ({
  context: CONTEXT,
  messages: crowded,
  ...more,
});
/** An answer whose size nobody counted: estimates stay as they are. */
const calling = (...calls: (readonly [name: string, args: string])[]): ModelOutcome =>
  answer({
    usage: null,
    calls: calls.map(([wire_name, arguments_text]) => ({ provider_id: 'p', wire_name, arguments_text })),
  });
const reads = (path: string): ModelOutcome => calling(['read_file', JSON.stringify({ path })]);

const tooLong: ModelOutcome = {
  kind: 'failed',
  code: 'context_exhausted',
  message: 'the request is longer than the window of the model',
  charged: null,
};

t.test('a transcript over the threshold is folded before the model is asked, and only then', async (t) => {
  const { link, provider, outcome } = await playTurn({
    steps: [says('done')],
    snapshot: withContext(),
    compact: () => folded,
  });
  t.same(link.folds, ['threshold']);
  t.same(provider.requests[0]?.messages, folded);
  t.equal(outcome.reply, 'done');
  const roomy = await playTurn({
    steps: [says('done')],
    snapshot: withContext({ context: { ...CONTEXT, fold_tokens: 50_000 } }),
  });
  t.same(roomy.link.folds, []);
  const dense = await playTurn({
    steps: [says('done')],
    snapshot: withContext({ context: { ...CONTEXT, fold_tokens: 5_000, calibration: 2 } }),
    compact: () => folded,
  });
  t.same(dense.link.folds, ['threshold'], 'what earlier turns learned about the model counts');
  const without = await playTurn({ steps: [says('done')], snapshot: { messages: crowded } });
  t.same(without.link.folds, []);
});

t.test('where nothing can be gained the turn goes on, and asks again only after it has grown', async (t) => {
  const { link, outcome } = await playTurn({
    steps: [reads('a'), reads('b'), says('done')],
    tools: { read_file: ({ arguments: args }) => (args.path === 'b' ? long(6_000) : 'short') },
    snapshot: withContext(),
    compact: () => crowded,
  });
  t.equal(outcome.status, 'completed');
  t.same(link.folds, ['threshold', 'threshold']);
});

t.test('rounds of the turn survive its fold, with the reasoning that their model wants back', async (t) => {
  const thought = { signature: 's' };
  const { link, provider, outcome } = await playTurn({
    steps: [
      answer({
        text: 'I look',
        usage: null,
        calls: [{ provider_id: 'p', wire_name: 'read_file', arguments_text: '{"path":"a"}' }],
        reasoning: [thought],
      }),
      says('done'),
    ],
    tools: { read_file: () => long(6_000) },
    snapshot: withContext({ context: { ...CONTEXT, fold_tokens: 4_000 } }),
    compact: (_reason, journal) => [...folded, ...messagesOf(journal)],
  });
  t.same(link.folds, ['threshold']);
  const [, , own] = provider.requests[1]?.messages ?? [];
  t.match(own, { role: 'assistant', text: 'I look', reasoning: [{ model: 'scripted', data: thought }] });
  t.equal(outcome.reply, 'done');
});

t.test(
  'a turn that finished without a word replies with what it said itself, not with what was folded',
  async (t) => {
    const { outcome } = await playTurn({
      steps: [calling(['finish', '{"status":"completed"}'])],
      tools: { finish: () => ({ ok: true }) },
      snapshot: withContext(),
      compact: () => [
        summary,
        { role: 'user', text: 'old' },
        { role: 'user', text: 'older' },
        { role: 'assistant', text: 'old words', calls: [] },
        ...folded.slice(1),
      ],
    });
    t.equal(outcome.reply, '');
  },
);

t.test('a request that is too long is folded and sent again, at most three times', async (t) => {
  let size = 10_000;
  const { link, provider, outcome } = await playTurn({
    steps: [tooLong, tooLong, tooLong, tooLong],
    snapshot: withContext({ context: { ...CONTEXT, fold_tokens: 100_000 } }),
    compact: () => {
      size /= 2;
      return [{ role: 'user', text: long(size) }];
    },
  });
  t.same(link.folds, ['overflow', 'overflow', 'overflow']);
  t.equal(provider.requests.length, 4);
  t.match(outcome, { status: 'failed', error: { code: 'context_exhausted' } });
});

t.test('a fold that gains nothing is not tried twice for one refusal', async (t) => {
  for (const compact of [() => null, () => crowded]) {
    const { provider, outcome, link } = await playTurn({
      steps: [tooLong],
      snapshot: withContext({ context: { ...CONTEXT, fold_tokens: 100_000 } }),
      compact,
    });
    t.equal(provider.requests.length, 1);
    t.same(link.folds, ['overflow']);
    t.match(outcome, { status: 'failed', error: { code: 'context_exhausted' } });
  }
  const healed = await playTurn({
    steps: [tooLong, says('done')],
    snapshot: withContext({ context: { ...CONTEXT, fold_tokens: 100_000 } }),
    compact: () => folded,
  });
  t.equal(healed.outcome.reply, 'done');
  t.same(healed.provider.requests[1]?.messages, folded);
});

t.test('a model that counts nothing, or too much, does not fold without an end', async (t) => {
  for (const input_tokens of [0, 1_000_000]) {
    const usage = { input_tokens, output_tokens: 1, cached_tokens: 0, estimated: false };
    const call = (path: string): ModelOutcome =>
      answer({
        usage,
        calls: [{ provider_id: 'p', wire_name: 'read_file', arguments_text: `{"path":"${path}"}` }],
      });
    const { link, outcome } = await playTurn({
      steps: [...'abcdefgh'].map(call).concat(answer({ usage, text: 'done' })),
      tools: { read_file: () => 'x' },
      limits: { tokens: 1e12 },
      snapshot: withContext(),
      compact: (_reason, journal) => [...folded, ...messagesOf(journal)],
    });
    t.equal(outcome.reply, 'done');
    t.ok(link.folds.length <= 3, `${link.folds.length} folds`);
  }
});

t.test(
  'a model may ask for the fold itself: it comes before the next round, with all results in it',
  async (t) => {
    const { link, provider, outcome } = await playTurn({
      plan: [...TOOLS, plannedTool('context.compact', 'write')],
      steps: [calling(['context_compact', '{}'], ['read_file', '{"path":"a"}']), says('done')],
      tools: { 'context.compact': () => ({ ok: true }), read_file: () => long(12_000) },
      snapshot: withContext({ context: { ...CONTEXT, fold_tokens: 100_000 } }),
      compact: (_reason, journal) => {
        t.equal(journal.filter(({ kind }) => kind === 'tool_result').length, 2);
        return folded;
      },
    });
    t.same(link.folds, ['asked']);
    t.same(provider.requests[1]?.messages, folded);
    t.equal(outcome.reply, 'done');
  },
);

t.test('a turn that outgrows its window again and again ends, and says why', async (t) => {
  const { link, provider, outcome } = await playTurn({
    steps: [...'abc'].map(reads),
    tools: { read_file: () => long(12_000) },
    snapshot: withContext({ context: { ...CONTEXT, window_tokens: 2_800 } }),
    compact: () => folded,
  });
  t.same(link.folds, ['threshold', 'threshold', 'threshold']);
  t.equal(provider.requests.length, 3);
  t.match(outcome, {
    status: 'failed',
    error: { code: 'context_exhausted', message: /2800 tokens, after 3/ },
  });
});

t.test('a cancel does not wait for a fold', async (t) => {
  const never = new Promise<null>(() => undefined);
  const running = startTurn({ steps: [], snapshot: withContext(), compact: () => never });
  setImmediate(() => running.link.end('cancel'));
  const { outcome, provider } = await running.played;
  t.equal(outcome.status, 'cancelled');
  t.equal(provider.requests.length, 0);
});

t.test('what the provider counted is told beside what we took it for', async (t) => {
  const { link } = await playTurn({
    steps: [says('done')],
    snapshot: withContext({ context: { ...CONTEXT, fold_tokens: 100_000 } }),
  });
  const [usage] = link.told('usage');
  t.equal(usage?.estimate_tokens, CONTEXT.fixed_tokens + estimateMessages(crowded));
  const silent = await playTurn({ steps: [answer({ text: 'done', usage: null })], snapshot: withContext() });
  t.equal(silent.link.told('usage')[0]?.estimate_tokens, undefined);
});
