// What happens to a turn before its worker and after its end, with its thread held; and how `finish` is told onward.
import t from 'tap';
import type { BeforeTurn } from '../../supervisor/dispatch/phases.js';
import { budget, window } from '../fakes/budget.js';
import { done, settleDown, stage, worker } from '../fakes/dispatch-stage.js';

/** A hook that the test lets go. */
function heldHook() {
  const calls: { signal: AbortSignal; go: (ready: BeforeTurn) => void }[] = [];
  const before = (_turn: unknown, signal: AbortSignal) =>
    new Promise<BeforeTurn>((go) => {
      calls.push({ signal, go });
    });
  return { calls, before };
}

const GO: BeforeTurn = { kind: 'go', extras: {} };

t.test('a turn gets its worker when what comes before it is done', async (t) => {
  const { calls, before } = heldHook();
  const s = stage(t, { before });
  const id = s.accept('hello');
  const behind = s.accept('behind');
  await settleDown();
  t.equal(s.workers.length, 0);
  t.equal(s.store.turns.get(id)?.state, 'queued');
  calls[0]?.go(GO);
  (await worker(s)).say(done());
  t.match(await s.scheduler.whenSettled(id), { status: 'completed' });
  s.workers[0]?.die({});
  await settleDown();
  t.equal(calls.length, 2, 'the next of the thread begins with it too');
  t.ok(s.scheduler.requestEnd(behind, 'cancel'));
  calls[1]?.go(GO);
  t.match(await s.scheduler.whenSettled(behind), { status: 'cancelled' });
});

t.test('nothing to do before it takes no time at all', async (t) => {
  const s = stage(t, { before: () => null });
  const id = s.accept('hello');
  t.equal(s.store.turns.get(id)?.state, 'starting', 'a worker has it when the message is accepted');
});

t.test('a message may be answered without a worker, and the thread remembers it', async (t) => {
  const s = stage(t, { before: () => Promise.resolve({ kind: 'answered', reply: 'all is well' }) });
  const id = s.accept('status?');
  t.match(await s.scheduler.whenSettled(id), { status: 'completed', reply: 'all is well' });
  t.equal(s.workers.length, 0);
  t.same(s.kinds(id), ['user_message', 'assistant_message', 'turn_ended']);
  t.same(s.store.inbox.pending(), []);
});

t.test('a cancel ends what comes before a turn, and nothing starts after it', async (t) => {
  const { calls, before } = heldHook();
  const s = stage(t, { before });
  const id = s.accept('hello');
  const next = s.accept('next');
  await settleDown();
  t.ok(s.scheduler.requestEnd(id, 'cancel'));
  t.ok(calls[0]?.signal.aborted);
  t.match(await s.scheduler.whenSettled(id), { status: 'cancelled' }, 'whatever the hook does');
  t.equal(calls.length, 1, 'its thread is held until the hook is done');
  calls[0]?.go(GO);
  await settleDown();
  t.equal(s.workers.length, 0);
  t.equal(calls.length, 2);
  calls[1]?.go(GO);
  (await worker(s)).say(done());
  t.match(await s.scheduler.whenSettled(next), { status: 'completed' });
});

t.test(
  'what was admitted is held while it happens, and given back when the turn does not start',
  async (t) => {
    const { calls, before } = heldHook();
    const intelligence = budget({ windows: [window('day', { tokens: 100 })] });
    const s = stage(t, { before, intelligence, estimate: 60 });
    const id = s.accept('hello', 'a');
    const other = s.accept('hello', 'b');
    await settleDown();
    t.equal(calls.length, 1, 'there is no room for another');
    t.match(s.store.reservations.all(), [{ turn_id: id }]);
    s.scheduler.requestEnd(id, 'cancel');
    calls[0]?.go(GO);
    await settleDown();
    t.match(s.store.reservations.all(), [{ turn_id: other }]);
    calls[1]?.go(GO);
    t.match((await worker(s)).sent[0], { type: 'turn' });
  },
);

t.test('a drain leaves a turn in the queue that was not begun', async (t) => {
  const { calls, before } = heldHook();
  const s = stage(t, { before });
  const id = s.accept('hello');
  await settleDown();
  const drained = s.scheduler.drain(0);
  t.ok(calls[0]?.signal.aborted);
  calls[0]?.go(GO);
  await drained;
  t.match(s.store.turns.get(id), { state: 'queued', windows: 0 });
  t.equal(s.store.inbox.pending().length, 1);
});

t.test('what follows a turn holds its thread, not its answer, and a drain ends it', async (t) => {
  let go: () => void = () => undefined;
  let stop: AbortSignal | undefined;
  const s = stage(t, {
    after: (_turn, row, signal) => {
      t.equal(row.status, 'completed');
      stop = signal;
      return new Promise((resolve) => {
        go = resolve;
      });
    },
  });
  const id = s.accept('hello');
  const next = s.accept('next');
  const w = await worker(s);
  w.say(done());
  t.match(await s.scheduler.whenSettled(id), { status: 'completed' });
  w.die({});
  await settleDown();
  t.equal(s.store.turns.get(next)?.state, 'queued');
  const drained = s.scheduler.drain(0);
  t.ok(stop?.aborted);
  go();
  await drained;
  t.equal(s.store.turns.get(next)?.state, 'queued');
});

t.test('a finish is told onward with its arguments once the turn is settled', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  const outcome = { status: 'completed', reply: 'bye', rounds: 1, tool_calls: 1 } as const;
  w.say({ type: 'turn_done', outcome: { ...outcome, finish: { status: 'completed', exit: true } } });
  await s.scheduler.whenSettled(id);
  t.same(s.finished, [[id, { status: 'completed', exit: true }]]);
});
