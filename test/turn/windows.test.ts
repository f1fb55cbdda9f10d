// Turns that go on in a later window: parked ones, those of a lost supervisor, and what a drain puts back.
import t from 'tap';
import { recover } from '../../supervisor/dispatch/recover.js';
import { answer, asking, resultsOf } from '../fakes/asking-turn.js';
import { assistant, done, request, settleDown, stage, worker } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';

t.test('a turn that only waits is parked', async (t) => {
  t.test('its slot and its worker are free, its thread is not, and the answer brings it back', async (t) => {
    const clock = new FakeClock();
    const s = stage(t, { clock, cap: 1, deadlineMs: 3_600_000 });
    const { id, w } = await asking(s);
    const behind = s.accept('behind', 'root');
    const other = s.accept('other', 'elsewhere');
    await clock.advance(59_000);
    t.same(w.ends, []);
    await clock.advance(2_000);
    t.same(w.ends, ['park']);
    t.match(s.store.turns.get(id), { state: 'queued', pid: null, windows: 1 });
    w.die({});
    const w2 = await worker(s, 1);
    t.equal(s.store.turns.get(other)?.state, 'starting', 'the slot went to another thread');
    t.equal(s.store.turns.get(behind)?.state, 'queued', 'the thread is kept');
    t.match(s.scheduler.status(), { parked: 1 });
    await clock.advance(3_600_000);
    w2.say(done());
    w2.die({});
    await settleDown();
    t.equal(s.workers.length, 2, 'nothing starts while it waits');
    t.equal(answer(s, 'call_1'), 'answered');
    const w3 = await worker(s, 2);
    const frame = w3.sent[0];
    if (frame?.type !== 'turn') throw new Error('no turn was sent');
    t.match(frame.snapshot.prior, { rounds: 1, calls: 1, tool_calls: 1 });
    t.match(
      frame.snapshot.messages.map(({ role }) => role),
      ['user', 'assistant', 'tool'],
    );
    t.match(s.store.events.ofTurn(id).at(-1)?.event, {
      kind: 'window_opened',
      window: 2,
      reason: 'answered',
    });
    const { active_ms: activeMs = 0 } = s.store.turns.get(id) ?? {};
    t.ok(activeMs >= 59_000 && activeMs < 70_000, 'parked time is not counted');
    w3.say({ type: 'progress', progress: { event: 'round', round: 2 } });
    w3.say(done());
    t.match(await s.scheduler.whenSettled(id), { status: 'completed', windows: 2 });
    w3.die({});
    (await worker(s, 3)).say(done());
    t.match(await s.scheduler.whenSettled(behind), { status: 'completed' });
  });

  t.test('not while another call runs, nor while a command does', async (t) => {
    const clock = new FakeClock();
    const s = stage(t, { clock, deadlineMs: 36_000_000, parkAfterMs: 2_000 });
    s.accept('hello');
    const w = await worker(s);
    w.say(request(1, 'call_1', 'exec_command', { command: 'make serve' }));
    w.say(request(2, 'call_2', 'sleep', { duration: '1h' }));
    await clock.advance(120_000);
    t.same(w.ends, [], 'the command has not reported');
    const content = { running: true, session_id: 7, ends_in_ms: 8_000 };
    const result = { content, is_error: false };
    w.say({ type: 'tool_result', id: 1, call_id: 'call_1', result, duration_ms: 1 });
    await clock.advance(6_000);
    t.same(w.ends, [], 'the command still runs');
    await clock.advance(2_500);
    t.same(w.ends, ['park'], 'its own time limit is over');
  });

  t.test('an answer that comes while it is being parked is not lost', async (t) => {
    const clock = new FakeClock();
    const s = stage(t, { clock, deadlineMs: 3_600_000 });
    const { id, w } = await asking(s);
    await clock.advance(61_000);
    t.equal(answer(s, 'call_1'), 'answered');
    w.say(done('cancelled'));
    await settleDown();
    t.equal(s.workers.length, 1, 'the old worker still leaves');
    w.die({});
    const next = await worker(s, 1);
    t.match(s.store.turns.get(id), { windows: 2 });
    next.say(done());
    t.match(await s.scheduler.whenSettled(id), { status: 'completed' });
    t.equal(resultsOf(s, id).length, 1);
  });

  t.test('a cancel ends it at once, parked or leaving, and no answer comes after that', async (t) => {
    for (const leaving of [true, false]) {
      const clock = new FakeClock();
      const s = stage(t, { clock, deadlineMs: 3_600_000, dir: `${t.testdir({})}/${leaving}` });
      const { id, w } = await asking(s);
      await clock.advance(61_000);
      if (!leaving) w.die({});
      await settleDown();
      t.ok(s.scheduler.requestEnd(id, 'cancel'));
      t.match(s.store.turns.get(id), { state: 'ended', status: 'cancelled' });
      t.equal(answer(s, 'call_1'), 'already_answered');
      w.die({});
      await settleDown();
      t.match(resultsOf(s, id), [{ end: 'interrupted', is_error: true }]);
      t.equal(s.workers.length, 1);
      t.same(s.store.waits.allOpen(), []);
      t.equal(s.store.inbox.pending().length, 0);
    }
  });
});

t.test('waits outlive their supervisor', async (t) => {
  const dir = `${t.testdir({})}/state`;
  const clock = new FakeClock();
  const before = stage(t, { clock, dir, deadlineMs: 3_600_000 });
  const { id } = await asking(before);
  before.lose();
  const s = stage(t, { clock, dir, deadlineMs: 3_600_000 });
  t.match(recover(s.store, s.governor, clock.now()), { turns: [], requeued: [id] });
  t.equal(s.store.calls.get('call_1')?.state, 'running', 'a call that waits stays open');
  s.scheduler.load();
  await settleDown();
  t.equal(s.workers.length, 0, 'it is parked');
  t.equal(answer(s, 'call_1'), 'answered');
  const w = await worker(s);
  t.match(s.store.events.ofTurn(id).at(-1)?.event, { kind: 'window_opened', window: 2, reason: 'answered' });
  w.say(done());
  t.match(await s.scheduler.whenSettled(id), { status: 'completed' });
});

t.test('a time that came while no supervisor lived answers at the start', async (t) => {
  const dir = `${t.testdir({})}/state`;
  const clock = new FakeClock();
  const before = stage(t, { clock, dir });
  const id = before.accept('hello');
  const w = await worker(before);
  w.say(assistant([{ call_id: 'call_1', name: 'sleep', arguments: { duration: '5s' } }]));
  w.say(request(1, 'call_1', 'sleep', { duration: '5s' }));
  await settleDown();
  before.lose();
  clock.set(clock.now() + 3_600_000);
  const s = stage(t, { clock, dir });
  recover(s.store, s.governor, clock.now());
  s.scheduler.load();
  await clock.advance(1);
  const next = await worker(s);
  t.match(resultsOf(s, id), [{ call_id: 'call_1', end: 'done' }]);
  next.say(done());
  t.match(await s.scheduler.whenSettled(id), { status: 'completed' });
});

t.test('other open calls of a lost turn are interrupted, and the turn goes on', async (t) => {
  const dir = `${t.testdir({})}/state`;
  const clock = new FakeClock();
  const before = stage(t, { clock, dir });
  const id = before.accept('hello');
  const w = await worker(before);
  const call = (name: string) => ({
    call_id: `call_${name}`,
    name: 'exec_command',
    arguments: { command: 'x' },
  });
  w.say(assistant([call('run'), call('next')]));
  w.say(request(1, 'call_run', 'exec_command', { command: 'x' }));
  await settleDown();
  before.lose();
  const s = stage(t, { clock, dir });
  recover(s.store, s.governor, 5);
  t.match(resultsOf(s, id), [
    { call_id: 'call_run', end: 'interrupted' },
    { call_id: 'call_next', end: 'not_started' },
  ]);
  s.scheduler.load();
  const next = await worker(s);
  t.match(next.sent[0], { type: 'turn', snapshot: { prior: { rounds: 1, calls: 2, tool_calls: 1 } } });
  t.match(s.store.events.ofTurn(id).at(-1)?.event, {
    kind: 'window_opened',
    reason: 'runtime_shutdown_continuation',
  });
  next.say(done());
  t.match(await s.scheduler.whenSettled(id), { status: 'completed' });
});

t.test('a cancel that was accepted before the supervisor was lost is carried out', async (t) => {
  const dir = `${t.testdir({})}/state`;
  const clock = new FakeClock();
  const before = stage(t, { clock, dir });
  const { id } = await asking(before);
  before.scheduler.requestEnd(id, 'cancel');
  before.lose();
  const s = stage(t, { clock, dir });
  t.match(recover(s.store, s.governor, 5), { turns: [id], requeued: [] });
  t.match(s.store.turns.get(id), { state: 'ended', status: 'cancelled' });
  t.same(s.store.waits.allOpen(), []);
});

t.test('a drain that runs out of time puts turns back with what they have', async (t) => {
  const dir = `${t.testdir({})}/state`;
  const clock = new FakeClock();
  const s = stage(t, { clock, dir });
  const id = s.accept('hello');
  const w = await worker(s);
  const call = { call_id: 'call_1', name: 'exec_command', arguments: { command: 'x' } };
  w.say({ type: 'progress', progress: { event: 'round', round: 1 } });
  w.say(assistant([call]));
  w.say(request(1, 'call_1', 'exec_command', { command: 'x' }));
  await settleDown();
  const drained = s.scheduler.drain(0);
  t.match(s.store.turns.get(id), { state: 'queued', rounds: 1 });
  t.same(w.ends, ['drain']);
  const result = { content: 'too late', is_error: false };
  w.say({ type: 'tool_result', id: 1, call_id: 'call_1', result, duration_ms: 1 });
  w.die({ code: null, signal: 'SIGKILL' });
  await drained;
  t.match(resultsOf(s, id), [{ call_id: 'call_1', end: 'interrupted' }]);
  t.ok(s.store.usage.ofTurn(id).estimated, 'the model call that was lost is charged');
  s.lose();
  const next = stage(t, { clock, dir });
  recover(next.store, next.governor, 5);
  next.scheduler.load();
  const w2 = await worker(next);
  t.match(w2.sent[0], { type: 'turn', snapshot: { prior: { rounds: 1 } } });
  w2.say(done());
  t.match(await next.scheduler.whenSettled(id), { status: 'completed' });
});
