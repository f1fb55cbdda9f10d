// Turns that give work away: when a subagent runs, how its parent hears of it, and what it is told.
import t from 'tap';
import { done, settleDown, stage, worker } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';
import { answers, contentOf, parent, resultsOf, snapshotOf, started } from '../fakes/parent-turn.js';

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
