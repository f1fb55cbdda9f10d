// The plan of a thread: written, advanced, reordered, and never left half changed.
import t from 'tap';
import type { JsonObject } from '../../shared/json.js';
import { THREAD } from '../fakes/open-store.js';
import { accepts, stage } from '../fakes/state-tool-stage.js';

t.test('a plan is written, read, advanced and cleared', (t) => {
  const { ok } = stage(t);
  t.same(ok('plan.get'), { plan: null });
  const made = ok('plan.create', {
    goal: 'ship',
    items: ['build', { title: 'test', detail: 'all', status: 'blocked' }],
  });
  t.match(made, {
    plan: {
      goal: 'ship',
      items: [
        { id: 'item_1', title: 'build', status: 'pending' },
        { id: 'item_2', title: 'test', detail: 'all', status: 'blocked' },
      ],
    },
    progress: { total: 2, pending: 1, blocked: 1, done: 0, in_progress: 0, skipped: 0 },
    replaced: false,
  });
  const moved = ok('plan.update', { item: 'build', status: 'done', note: 'quick' });
  t.match(moved, { plan: { items: [{ status: 'done', note: 'quick' }, {}] }, progress: { done: 1 } });
  t.match(ok('plan.update', { item: 'item_2', title: 'test it', detail: 'twice' }), {
    plan: { items: [{}, { id: 'item_2', title: 'test it', detail: 'twice', status: 'blocked' }] },
  });
  t.match(ok('plan.get'), { plan: { goal: 'ship' }, progress: { done: 1, blocked: 1 } });
  t.match(ok('plan.create', { goal: 'again', items: ['x'] }), {
    replaced: true,
    plan: { items: [{ id: 'item_1' }] },
  });
  t.same(ok('plan.clear'), { ok: true, found: true });
  t.same(ok('plan.clear'), { ok: true, found: false });
  t.same(ok('plan.get'), { plan: null });
  t.end();
});

t.test('items are inserted where they belong and put into a new order', (t) => {
  const { ok, error } = stage(t);
  const titles = (content: JsonObject): string[] =>
    ((content['plan'] as JsonObject)['items'] as JsonObject[]).map((item) => String(item['title']));
  ok('plan.create', { goal: 'g', items: ['a', 'b'] });
  t.same(titles(ok('plan.update', { insert: { title: 'c' } })), ['a', 'b', 'c']);
  t.same(titles(ok('plan.update', { insert: { title: 'a2', after: 'a' } })), ['a', 'a2', 'b', 'c']);
  t.same(
    titles(ok('plan.update', { reorder: ['c', 'item_1'] })),
    ['c', 'a', 'a2', 'b'],
    'the others keep their order',
  );
  t.match(error('plan.update', { reorder: ['c', 'c'] }), /twice/);
  ok('plan.update', { insert: { title: 'b' } });
  t.match(error('plan.update', { item: 'b', status: 'done' }), /several items/);
  t.end();
});

t.test('an update that cannot be done whole is not done at all, and says what there is', (t) => {
  const { ok, call, error } = stage(t);
  t.match(error('plan.update', { item: 'a', status: 'done' }), /plan\.create/);
  ok('plan.create', { goal: 'g', items: ['a'] });
  const before = ok('plan.get');
  t.match(call('plan.update', { item: 'a', status: 'done', insert: { title: 'x', after: 'nowhere' } }), {
    is_error: true,
    content: { error: /no item nowhere/, items: [{ id: 'item_1', title: 'a' }] },
  });
  t.match(error('plan.update', {}), /nothing to change/);
  t.match(error('plan.update', { status: 'done' }), /name the item/);
  t.same(ok('plan.get'), before);
  t.end();
});

t.test('a plan has at most 32 items', (t) => {
  const { ok, error } = stage(t);
  const items = Array.from({ length: 32 }, (_, index) => `step ${index}`);
  t.notOk(accepts('plan.create', { goal: 'g', items: [...items, 'one more'] }));
  t.notOk(accepts('plan.create', { goal: 'g', items: [] }));
  ok('plan.create', { goal: 'g', items });
  t.match(error('plan.update', { insert: { title: 'one more' } }), /at most 32/);
  t.end();
});

t.test('plans of two threads do not touch', (t) => {
  const { store, ok } = stage(t);
  const { workspace_id } = store.threads.get(THREAD) ?? { workspace_id: '' };
  store.transact('accept_message', () => store.threads.ensure('other', workspace_id, 'operator', 1));
  ok('plan.create', { goal: 'mine', items: ['a'] });
  t.same(ok('plan.get', {}, { threadId: 'other' }), { plan: null });
  t.end();
});
