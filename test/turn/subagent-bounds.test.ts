// What a subagent may do and how many there may be: never more than its parent and the limits allow.
import t from 'tap';
import { stage, worker } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';
import { answers, contentOf, parent, started } from '../fakes/parent-turn.js';

t.test('each bound is a refusal that names it', async (t) => {
  const refused = (code: string, limit: number) => ({ is_error: true, content: { code, limit } });
  t.test('how deep they nest', async (t) => {
    const s = stage(t, { limits: { depth: 1 } });
    const p = await parent(s, { message: 'work', index: 0 });
    await started(p);
    const child = await parent(s, { index: 1 });
    t.notOk(
      s.store.turns.get(child.id)?.options.tools?.some((name) => name.startsWith('subagent.')),
      'it is not told of tools that it could only be refused',
    );
    t.match(await child.call('subagent.run', { instruction: 'deeper' }), refused('subagent_depth', 1));
  });
  t.test('how many one turn has, with room again when one has ended', async (t) => {
    const s = stage(t, { limits: { breadth: 2 } });
    const p = await parent(s, { message: 'work', index: 0 });
    await started(p);
    await started(p);
    t.match(await p.call('subagent.run', { instruction: 'one more' }), refused('subagent_breadth', 2));
    await answers(s, 1, 'done');
    t.match(await p.call('subagent.run', { instruction: 'one more', mode: 'async' }), { is_error: false });
  });
  t.test('how many there are in all', async (t) => {
    const s = stage(t, { limits: { total: 2 } });
    const p = await parent(s, { message: 'work', index: 0 });
    await started(p);
    await started(p);
    s.accept('other', 'elsewhere');
    await worker(s, 3);
    const other = await parent(s, { index: 3 });
    t.match(
      await other.call('subagent.run', { instruction: 'mine', mode: 'async' }),
      refused('subagent_total', 2),
    );
  });
  t.test('how fast they are started, until its time is over', async (t) => {
    const clock = new FakeClock();
    const s = stage(t, { clock, limits: { rate: { starts: 2, per_ms: 2_000 } } });
    const p = await parent(s, { message: 'work', index: 0 });
    await started(p);
    const handle = await started(p);
    t.match(await p.call('subagent.run', { instruction: 'again' }), refused('subagent_rate', 2));
    t.match(await p.call('subagent.send', { handle, message: 'again' }), refused('subagent_rate', 2));
    await clock.advance(2_100);
    t.match(await p.call('subagent.send', { handle, message: 'again' }), { is_error: false });
  });
});

t.test('a subagent may do what its parent may, or less', async (t) => {
  const clock = new FakeClock();
  const s = stage(t, { clock });
  const p = await parent(s, { message: 'work', index: 0 });
  const run = async (more: object): Promise<string> => {
    await clock.advance(2_000);
    const given = await p.call('subagent.run', { instruction: 'Look.', mode: 'async', ...more });
    return String(contentOf(given).turn_id);
  };
  const id = await run({
    tools: ['read_file', 'plan_get', 'subagent.run'],
    limits: { steps: 5, tokens: 1_000, deadline: '90s' },
    role: 'Be terse.',
    model: 'known',
    output_schema: { type: 'object' },
  });
  t.match(s.store.turns.get(id)?.options, {
    tools: ['read_file', 'plan.get', 'subagent.run'],
    limits: { rounds: 5, tokens: 1_000, deadline_ms: 90_000 },
    instruction: 'Be terse.',
    model: 'known',
    output_schema: { type: 'object' },
  });
  const child = await parent(s, { index: 1 });
  t.match(await child.call('subagent.run', { instruction: 'x', tools: ['exec_command'] }), {
    is_error: true,
    content: { error: /no tool exec_command/ },
  });
  await child.call('subagent.run', { instruction: 'x', limits: { tokens: 9_000, deadline: '1h' } });
  const grandchild = await parent(s, { index: 2 });
  t.match(s.store.turns.get(grandchild.id)?.options, {
    tools: ['read_file', 'plan.get', 'subagent.run'],
    limits: { rounds: 5, tokens: 1_000 },
  });
  t.ok((s.store.turns.get(grandchild.id)?.options.limits?.deadline_ms ?? 0) <= 90_000);
  t.match(await p.call('subagent.run', { instruction: 'x', model: 'unheard-of' }), {
    is_error: true,
    content: { error: /no model unheard-of/ },
  });
});
