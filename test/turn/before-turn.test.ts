// What happens to a message before its worker: the look and the search side by side, the fold after both, and a search
// that is a spare worker's and never stops a turn.
import t, { type Test } from 'tap';
import { DEFAULTS } from '../../config/defaults.js';
import type { Config } from '../../config/schema.js';
import { Secret } from '../../config/secrets.js';
import { type Before, beforeTurn } from '../../supervisor/context/before-turn.js';
import { Knowledge } from '../../supervisor/context/knowledge.js';
import type { Preflighted } from '../../supervisor/context/preflight.js';
import { searchChild } from '../../supervisor/dispatch/search-child.js';
import { FakeClock } from '../fakes/fake-clock.js';
import { THREAD, TURN_ID, testStore } from '../fakes/open-store.js';
import { type PlayedWorker, poolOf } from '../fakes/played-worker.js';

const TURN = { turnId: TURN_ID, threadId: THREAD };
const on = { ...DEFAULTS.knowledge.auto_context, on: 'turn' } as const;
const folder = { ...DEFAULTS.knowledge.search, path: '/handbook' };

interface Scene {
  readonly workers: PlayedWorker[];
  readonly clock: FakeClock;
  readonly logged: [string, unknown][];
  look(signal?: AbortSignal): Promise<string> | null;
}

function scene(t: Test, config: Config['knowledge'], text = 'Where is the canary?'): Scene {
  const store = testStore(t);
  const message = { event_id: 'e', turn_id: TURN_ID, thread_id: THREAD, principal: 'operator', text };
  store.transact('accept_message', () =>
    store.inbox.insert({ ...message, created_at_ms: 1, producer: 'client', lane: 'person', hop: 0 }),
  );
  const workers: PlayedWorker[] = [];
  const clock = new FakeClock();
  const logged: [string, unknown][] = [];
  const knowledge = new Knowledge({
    config,
    store,
    search: searchChild({ pool: poolOf(workers), clock }),
    log: (event, fields) => logged.push([event, fields]),
  });
  return {
    workers,
    clock,
    logged,
    look: (signal = new AbortController().signal) => knowledge.before(TURN, signal),
  };
}

t.test('nothing is searched where nobody asked for it', async (t) => {
  const cases: [string, Config['knowledge'], string][] = [
    ['off', { ...DEFAULTS.knowledge, search: folder }, 'text'],
    ['nowhere', { ...DEFAULTS.knowledge, auto_context: on }, 'text'],
    ['a blank message', { auto_context: on, search: folder }, ' \n'],
  ];
  for (const [name, config, text] of cases)
    await t.test(name, (t) => {
      const s = scene(t, config, text);
      t.equal(s.look(), null);
      t.equal(s.workers.length, 0);
      t.end();
    });
});

t.test('a spare worker searches for the message, and its hits are quoted with their source', async (t) => {
  const s = scene(t, { auto_context: on, search: folder });
  const looking = s.look();
  const [worker] = s.workers;
  t.same(worker?.sent, [
    {
      type: 'search',
      order: {
        query: 'Where is the canary?',
        place: { kind: 'files', root: '/handbook' },
        top: 5,
        bytes: 16_384,
        time_ms: 5_000,
      },
    },
  ]);
  worker?.say({
    type: 'found',
    hits: [
      { source: 'a.md', text: 'one\n## Instruction' },
      { source: 'b', text: 'two' },
    ],
  });
  t.equal(await looking, 'Source: a.md\n> one\n> ## Instruction\n\nSource: b\n> two');
  t.same(worker?.ends, ['operator']);
  t.equal(s.clock.waiting, 0);
  t.match(s.logged, [['knowledge.auto_context', { hits: 2 }]]);
});

t.test('a search server gets its token by the private wire', (t) => {
  const search = {
    ...folder,
    path: null,
    url: 'https://search.example/q',
    token: new Secret('key', '{{secret:K}}'),
  };
  const s = scene(t, { auto_context: on, search });
  void s.look();
  t.match(s.workers[0]?.sent, [
    { order: { place: { kind: 'server', url: 'https://search.example/q', token: 'key' } } },
  ]);
  t.end();
});

t.test('a search that fails adds nothing', async (t) => {
  const cases: [string, (s: Scene) => Promise<void> | void, RegExp | null][] = [
    [
      'told',
      (s) => s.workers[0]?.say({ type: 'failed', code: 'x', message: 'no such folder' }),
      /no such folder/,
    ],
    ['dead', (s) => s.workers[0]?.die({ code: null, signal: 'SIGKILL' }), /without an answer/],
    ['silent', (s) => s.clock.advance(10_001), /too long/],
  ];
  for (const [name, goWrong, words] of cases)
    await t.test(name, async (t) => {
      const s = scene(t, { auto_context: on, search: folder });
      const looking = s.look();
      await goWrong(s);
      t.equal(await looking, '');
      t.match(s.logged, [['knowledge.failed', { message: words }]]);
    });
  await t.test('a cancel ends the search', async (t) => {
    const s = scene(t, { auto_context: on, search: folder });
    const stop = new AbortController();
    const looking = s.look(stop.signal);
    stop.abort();
    t.equal(await looking, '');
    t.same(s.workers[0]?.ends, ['operator']);
    t.same(s.logged, []);
  });
});

t.test('the parts of the time before a turn come together', async (t) => {
  const order: string[] = [];
  const hook = (looked: Preflighted | null, found: string | null, folds: boolean): Promise<Before> | null =>
    beforeTurn({
      preflight: { before: () => (looked === null ? null : Promise.resolve(looked)) },
      knowledge: { before: () => (found === null ? null : Promise.resolve(found)) },
      fold: () => {
        if (!folds) return null;
        order.push('fold');
        return Promise.resolve();
      },
    })(TURN, new AbortController().signal);
  const go: Preflighted = { kind: 'go', extras: {} };
  t.equal(hook(null, null, false), null, 'at once, when nobody has anything to do');
  t.same(await hook(null, null, true), { kind: 'go', extras: {} });
  t.same(await hook(go, 'texts', true), { kind: 'go', extras: { knowledge: 'texts' } });
  t.same(order, ['fold', 'fold']);
  t.same(await hook(null, '', false), { kind: 'go', extras: {} });
  t.same(await hook({ kind: 'answered', reply: 'done' }, 'texts', true), { kind: 'answered', reply: 'done' });
  t.same(order, ['fold', 'fold'], 'what is answered is not folded for');
});
