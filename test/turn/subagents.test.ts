// Turns that give work away: what a subagent is told and may do, when it runs, how its parent hears of it, and that it ends.
import t from 'tap';
import { recover } from '../../supervisor/dispatch/recover.js';
import { done, type Stage, settleDown, stage, worker } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';
import { contentOf, type Parent, parent } from '../fakes/parent-turn.js';

/** Asks for a subagent that is not waited for; its handle. */
async function started(p: Parent, instruction = 'Look.', mode = 'async'): Promise<string> {
  const content = contentOf(await p.call('subagent.run', { instruction, mode }));
  return String(content.handle);
}

/** The turn of a subagent that a worker has ends with this answer. */
async function answers(s: Stage, index: number, reply: string): Promise<void> {
  const w = await worker(s, index);
  w.say(done('completed', reply));
  w.die({});
  await settleDown();
  await settleDown();
}

function snapshotOf({ w }: Parent) {
  const frame = w.sent[0];
  if (frame?.type !== 'turn') throw new Error('no turn was sent');
  return frame.snapshot;
}

const resultsOf = (s: Stage, turnId: string) =>
  s.store.events.ofTurn(turnId).flatMap(({ event }) => (event.kind === 'tool_result' ? [event] : []));

t.test('a turn waits for the subagent that it asked for', async (t) => {
  const s = stage(t);
  const p = await parent(s, { message: 'big work', index: 0 });
  t.equal(await p.call('subagent.run', { instruction: 'Count the files.' }), undefined, 'it waits');
  const child = await parent(s, { index: 1 });
  const row = s.store.turns.get(child.id);
  t.match(row, { parent_turn_id: p.id });
  const handle = row?.thread_id ?? '';
  t.match(s.store.threads.get(handle), { parent_turn_id: p.id, owner: 'operator' });
  t.same(
    s.store.threads.list().map(({ thread_id }) => thread_id),
    ['root'],
    'it is no conversation of a person',
  );
  t.match(s.store.inbox.ofTurn(child.id), {
    producer: 'subagent',
    principal: 'operator',
    lane: 'person',
    text: 'Count the files.',
  });
  t.match(snapshotOf(child).messages, [{ role: 'user', text: 'Count the files.' }]);
  t.equal(snapshotOf(child).messages.length, 1, 'it knows nothing of its parent');
  child.w.say({
    type: 'progress',
    progress: {
      event: 'usage',
      call_index: 1,
      model: 'm',
      usage: { input_tokens: 70, output_tokens: 5, cached_tokens: 0, estimated: false },
    },
  });
  await answers(s, 1, 'There are 12.');
  t.match(p.answer(1), {
    content: { handle, status: 'completed', result: 'There are 12.', usage: { input_tokens: 70 } },
    is_error: false,
    subagent_tokens: 75,
  });
  t.match(s.store.usage.ofTree(p.id), { input_tokens: 70, output_tokens: 5 });
  t.match(s.store.usage.ofTurn(p.id), { input_tokens: 0 });
  p.w.say(done());
  t.match(await s.scheduler.whenSettled(p.id), { status: 'completed' });
  t.equal(resultsOf(s, p.id).length, 1);
  t.same(s.store.waits.allOpen(), []);
});

t.test('one that fails is told as a failure, with why', async (t) => {
  const s = stage(t);
  const p = await parent(s, { message: 'work', index: 0 });
  await p.call('subagent.run', { instruction: 'Break.' });
  (await worker(s, 1)).die({ code: null, signal: 'SIGKILL' });
  await settleDown();
  await settleDown();
  t.match(p.answer(1), { is_error: true, content: { status: 'failed', error: /SIGKILL/, result: '' } });
});

t.test('a turn that waits lends its slot, so that one slot is enough for a chain of them', async (t) => {
  const s = stage(t, { cap: 1 });
  const one = await parent(s, { message: 'one', index: 0 });
  await one.call('subagent.run', { instruction: 'two' });
  const other = s.accept('other', 'elsewhere');
  const two = await parent(s, { index: 1 });
  await two.call('subagent.run', { instruction: 'three' });
  const three = await parent(s, { index: 2 });
  await three.call('subagent.run', { instruction: 'four' });
  const four = await parent(s, { index: 3 });
  t.match(
    [one, two, three, four].map(({ id }) => s.store.turns.get(id)?.state),
    ['running', 'running', 'running', 'starting'],
  );
  t.equal(s.store.turns.get(other)?.state, 'queued', 'nobody else gets a slot');
  await answers(s, 3, 'four');
  await answers(s, 2, 'three');
  await answers(s, 1, 'two');
  t.equal(s.store.turns.get(other)?.state, 'queued', 'the parent has its slot back');
  t.match(one.answer(1), { content: { result: 'two' } });
  await answers(s, 0, 'one');
  t.match(await s.scheduler.whenSettled(one.id), { status: 'completed' });
  await answers(s, 4, 'other');
  t.match(await s.scheduler.whenSettled(other), { status: 'completed' });
});

t.test('one slot is lent to one subagent at a time', async (t) => {
  const s = stage(t, { cap: 1 });
  const p = await parent(s, { message: 'work', index: 0 });
  const handles = [await started(p, 'a'), await started(p, 'b'), await started(p, 'c')];
  t.equal(s.workers.length, 1, 'the parent works, and has the slot');
  t.equal(await p.call('subagent.await', { handle: handles }), undefined);
  await worker(s, 1);
  t.equal(s.workers.length, 2);
  await answers(s, 1, 'A');
  await worker(s, 2);
  t.equal(s.workers.length, 3);
  await answers(s, 2, 'B');
  await answers(s, 3, 'C');
  t.match(p.answer(4), {
    content: { timed_out: false, subagents: [{ result: 'A' }, { result: 'B' }, { result: 'C' }] },
  });
});

t.test('what was started is looked at, awaited, spoken to and ended by its handle', async (t) => {
  const clock = new FakeClock();
  const s = stage(t, { clock });
  const p = await parent(s, { message: 'work', index: 0 });
  const [a, b] = [await started(p, 'first'), await started(p, 'second')];
  t.match(contentOf(await p.call('subagent.status', { handle: a })), { handle: a, status: 'running' });
  t.equal(await p.call('subagent.await', { handle: [a, b], mode: 'any', timeout_s: 60 }), undefined);
  await answers(s, 2, 'Second done.');
  t.match(contentOf(p.answer(4)), {
    timed_out: false,
    subagents: [
      { handle: a, status: 'running' },
      { handle: b, result: 'Second done.' },
    ],
  });
  t.equal(await p.call('subagent.await', { handle: a, timeout_s: 60 }), undefined);
  await clock.advance(61_000);
  t.match(contentOf(p.answer(5)), { handle: a, status: 'running', timed_out: true });
  t.match(contentOf(await p.call('subagent.await', { handle: b })), { result: 'Second done.' });
  const sent = contentOf(await p.call('subagent.send', { handle: b, message: 'And now?' }));
  t.match(sent, { handle: b, status: 'queued' });
  const again = await parent(s, { index: 3 });
  t.equal(again.id, sent.turn_id);
  t.match(
    snapshotOf(again).messages.map(({ role }) => role),
    ['user', 'user'],
    'it goes on in its own conversation',
  );
  t.match(contentOf(await p.call('subagent.list', {})), {
    subagents: [
      { handle: b, task: 'And now?' },
      { handle: a, task: 'first' },
    ],
  });
  t.equal(await p.call('subagent.kill', { handle: a }), undefined, 'it waits for the end');
  const w = await worker(s, 1);
  t.same(w.ends, ['cancel']);
  w.die({});
  await settleDown();
  await settleDown();
  t.match(contentOf(p.answer(9)), { handle: a, ended: 1, status: 'cancelled' });
  t.match(contentOf(await p.call('subagent.kill', { handle: a })), { ended: 0, status: 'cancelled' });
  for (const tool of ['subagent.await', 'subagent.status', 'subagent.kill'])
    t.match(await p.call(tool, { handle: 'root' }), {
      is_error: true,
      content: { error: /no subagent root/ },
    });
});

t.test('another conversation cannot reach a subagent by its handle', async (t) => {
  const s = stage(t);
  const p = await parent(s, { message: 'work', index: 0 });
  const handle = await started(p);
  s.accept('spy', 'elsewhere');
  await worker(s, 2);
  const spy = await parent(s, { index: 2 });
  for (const [tool, more] of [
    ['subagent.await', {}],
    ['subagent.status', {}],
    ['subagent.kill', {}],
    ['subagent.send', { message: 'hello' }],
  ] as const)
    t.match(await spy.call(tool, { handle, ...more }), {
      is_error: true,
      content: { error: /no subagent/ },
    });
  t.match(contentOf(await spy.call('subagent.list', {})), { subagents: [] });
});

t.test('each bound is a refusal that names it', async (t) => {
  const refused = (code: string, limit: number) => ({ is_error: true, content: { code, limit } });
  t.test('depth', async (t) => {
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
  t.test('breadth, and room again when one has ended', async (t) => {
    const s = stage(t, { limits: { breadth: 2 } });
    const p = await parent(s, { message: 'work', index: 0 });
    await started(p);
    await started(p);
    t.match(await p.call('subagent.run', { instruction: 'one more' }), refused('subagent_breadth', 2));
    await answers(s, 1, 'done');
    t.match(await p.call('subagent.run', { instruction: 'one more', mode: 'async' }), { is_error: false });
  });
  t.test('total', async (t) => {
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
  t.test('rate, until its time is over', async (t) => {
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

t.test('a long result is cut, and is whole in an artifact of the conversation, once', async (t) => {
  const s = stage(t);
  const p = await parent(s, { message: 'work', index: 0 });
  await p.call('subagent.run', { instruction: 'Tell all.' });
  const whole = 'ä'.repeat(30_000);
  await answers(s, 1, whole);
  const content = contentOf(p.answer(1));
  t.match(content, { truncated: true, result_bytes: 60_000 });
  const bytes = Buffer.byteLength(String(content.result));
  t.ok(bytes <= 8_000 && bytes > 7_990);
  const artifactId = String(content.artifact_id);
  t.equal(Buffer.from(s.store.artifacts.read(artifactId, 0, 100_000)).toString(), whole);
  t.match(contentOf(await p.call('subagent.status', { handle: content.handle ?? '' })), {
    artifact_id: artifactId,
  });
  t.equal(s.store.artifacts.list('root', '', 10).length, 1);
});

t.test('what a turn gave away ends with it', async (t) => {
  t.test('when it is cancelled, down to the last of them', async (t) => {
    const s = stage(t);
    const p = await parent(s, { message: 'work', index: 0 });
    await p.call('subagent.run', { instruction: 'child' });
    const child = await parent(s, { index: 1 });
    await started(child, 'grandchild');
    const grandchild = await parent(s, { index: 2 });
    s.scheduler.requestEnd(p.id, 'cancel');
    s.subagents.endBelow(p.id, 'cancel');
    t.same(
      [p, child, grandchild].map(({ w }) => w.ends),
      [['cancel'], ['cancel'], ['cancel']],
    );
    for (const { w } of [grandchild, child, p]) {
      w.say(done('cancelled'));
      w.die({});
    }
    await s.subagents.settledBelow(p.id);
    for (const { id } of [p, child, grandchild])
      t.match(s.store.turns.get(id), { state: 'ended', status: 'cancelled' });
    t.equal(resultsOf(s, p.id).length, 1);
    t.same(s.store.waits.allOpen(), []);
    t.same(s.store.inbox.pending(), []);
  });

  t.test('when it just ends: those at work, and those that wait for a slot', async (t) => {
    const s = stage(t, { cap: 2 });
    const p = await parent(s, { message: 'work', index: 0 });
    const [running, queued] = [await started(p, 'a'), await started(p, 'b')];
    p.w.say(done());
    await s.scheduler.whenSettled(p.id);
    const w = await worker(s, 1);
    t.same(w.ends, ['cancel']);
    t.match(s.store.turns.ofThread(queued), [{ state: 'ended', status: 'cancelled', windows: 0 }]);
    w.die({});
    await s.subagents.settledBelow(p.id);
    t.match(s.store.turns.ofThread(running), [{ state: 'ended', status: 'cancelled' }]);
    t.equal(s.workers.length, 2, 'none was started only to be ended');
  });

  t.test('but a detached one goes on, where somebody stays for it', async (t) => {
    for (const keepsDetached of [true, false]) {
      const s = stage(t, { keepsDetached, dir: `${t.testdir({})}/${keepsDetached}` });
      const p = await parent(s, { message: 'work', index: 0 });
      const handle = await started(p, 'long', 'detached');
      p.w.say(done());
      p.w.die({});
      await s.scheduler.whenSettled(p.id);
      await settleDown();
      const w = await worker(s, 1);
      t.same(w.ends, keepsDetached ? [] : ['cancel']);
      if (!keepsDetached) continue;
      await answers(s, 1, 'at last');
      s.accept('and?');
      const later = await parent(s, { index: 2 });
      t.match(contentOf(await later.call('subagent.await', { handle })), { result: 'at last' });
    }
  });
});

t.test('a parent that waits outlives its supervisor, and is answered once', async (t) => {
  for (const when of ['before', 'after'] as const)
    t.test(`by a subagent that ended ${when} that was lost`, async (t) => {
      const dir = `${t.testdir({})}/state`;
      const first = stage(t, { dir });
      const p = await parent(first, { message: 'work', index: 0 });
      await p.call('subagent.run', { instruction: 'Look.' });
      const child = await parent(first, { index: 1 });
      // Its answer is durable, and the supervisor dies before anything follows from it.
      if (when === 'before') child.w.say(done('completed', 'Found.'));
      first.lose();
      const s = stage(t, { dir });
      recover(s.store, s.governor, Date.now());
      s.scheduler.load();
      if (when === 'after') {
        const again = await parent(s, { index: 0 });
        t.equal(again.id, child.id);
        t.equal(s.workers.length, 1, 'the parent waits without a worker');
        await answers(s, 0, 'Found.');
      }
      const back = await parent(s, { index: when === 'after' ? 1 : 0 });
      t.equal(back.id, p.id);
      t.match(resultsOf(s, p.id), [{ end: 'done', content: { result: 'Found.' } }]);
      t.equal(resultsOf(s, p.id).length, 1);
      back.w.say(done());
      t.match(await s.scheduler.whenSettled(p.id), { status: 'completed' });
    });

  t.test('subagents of a turn that ended before its supervisor was lost end at the next start', async (t) => {
    const dir = `${t.testdir({})}/state`;
    const first = stage(t, { dir });
    const p = await parent(first, { message: 'work', index: 0 });
    await p.call('subagent.run', { instruction: 'Look.', mode: 'async' });
    const child = await parent(first, { index: 1 });
    await started(child, 'below');
    await worker(first, 2);
    const { store } = first;
    store.transact('request_end', () => store.turns.transition(p.id, 'stop', { end_requested: 'cancel' }));
    first.lose();
    const s = stage(t, { dir });
    recover(s.store, s.governor, Date.now());
    s.scheduler.load();
    await settleDown();
    t.equal(s.workers.length, 0);
    t.match(
      s.store.turns.inStates(['ended']).map(({ status }) => status),
      ['cancelled', 'cancelled', 'cancelled'],
    );
    t.same(s.store.inbox.pending(), []);
  });
});
