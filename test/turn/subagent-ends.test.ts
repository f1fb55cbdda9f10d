// Subagents end with the turn that gave them work, whatever ended it, and a parent that is lost hears of them once.
import t from 'tap';
import { recover } from '../../supervisor/dispatch/recover.js';
import { done, settleDown, stage, worker } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';
import { answers, contentOf, parent, resultsOf, started } from '../fakes/parent-turn.js';

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
      const first = stage(t, { dir, clock: new FakeClock() });
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
    const first = stage(t, { dir, clock: new FakeClock() });
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
