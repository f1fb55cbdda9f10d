// Asking a model beside a turn: what the worker is given, what comes back, and that the books are right however it ends.
import t from 'tap';
import { recover } from '../../supervisor/dispatch/recover.js';
import { budget, window } from '../fakes/budget.js';
import { TURN_ID } from '../fakes/open-store.js';
import type { PlayedWorker } from '../fakes/played-worker.js';
import { call, outcome, type ThinkStage, thinkStage } from '../fakes/think-stage.js';

function worker(s: ThinkStage, index = 0): PlayedWorker {
  const found = s.workers[index];
  if (found === undefined) throw new Error('no worker was taken');
  return found;
}

function plays(w: PlayedWorker, frames: readonly Parameters<PlayedWorker['say']>[0][]): void {
  for (const frame of frames) w.say(frame);
}

t.test('a thought is a turn without tools, on its own model, with bounds of its own', async (t) => {
  const s = thinkStage(t);
  const schema = { type: 'object' };
  const asked = s.think({ output_schema: schema });
  const [frame] = worker(s).sent;
  t.match(frame, {
    type: 'turn',
    snapshot: {
      turn_id: TURN_ID,
      system_prompt: 'Think.',
      messages: [{ role: 'user', text: 'What now?' }],
      tools: [],
      model: { model: 'small', max_output_tokens: 100 },
      limits: { rounds: 3, deadline_ms: 10_000 },
      output_schema: schema,
    },
  });
  plays(worker(s), [...call(1, 10), outcome('{"a":["canary-secret"]}')]);
  const result = await asked;
  t.same(result.ok && result.value, { a: ['***'] }, 'parsed, and secrets are masked');
  t.same(worker(s).ends, ['operator']);
});

t.test('what it cost is on the turn once, under its purpose, call after call', async (t) => {
  const s = thinkStage(t);
  const first = s.think();
  plays(worker(s), [...call(1, 10), ...call(2, 20), outcome('well')]);
  t.same(await first, { ok: true, value: 'well', text: 'well' });
  const second = s.think();
  plays(worker(s, 1), [...call(1, 30), outcome('again')]);
  await second;
  const other = s.think({ purpose: 'decide' });
  plays(worker(s, 2), [...call(1, 40), outcome('no')]);
  await other;
  t.same(s.booked(), [
    ['think', 1, 'small-1', 10, 1, false],
    ['think', 2, 'small-1', 20, 1, false],
    ['think', 3, 'small-1', 30, 1, false],
    ['decide', 1, 'small-1', 40, 1, false],
  ]);
  t.match(s.store.usage.ofTurn(TURN_ID), { input_tokens: 100, output_tokens: 4, estimated: false });
  t.equal(s.live.filter((event) => event.type === 'journal').length, 4, 'and those who watch are told');
});

t.test('two thoughts of one turn and purpose wait for each other, of two purposes they do not', async (t) => {
  const s = thinkStage(t);
  const one = s.think();
  const two = s.think();
  void s.think({ purpose: 'preflight' });
  t.equal(s.workers.length, 2);
  plays(worker(s), [...call(1, 10), outcome('one')]);
  await one;
  await s.clock.advance(0);
  t.equal(s.workers.length, 3);
  plays(worker(s, 2), [...call(1, 10), outcome('two')]);
  t.match(await two, { ok: true, text: 'two' });
});

t.test('a failure comes back with its code, and is never thrown', async (t) => {
  const s = thinkStage(t);
  const failed = s.think();
  worker(s).say(outcome('', 'failed', { code: 'schema_mismatch', message: 'not with canary-secret' }));
  t.same(await failed, { ok: false, code: 'schema_mismatch', message: 'not with ***' });
  const tools = s.think();
  worker(s, 1).say({
    type: 'tool_request',
    id: 1,
    call_id: 'c',
    round: 1,
    index: 0,
    tool: 't',
    arguments: {},
  });
  t.match(await tools, { ok: false, code: 'internal_error' }, 'a worker that has no tools calls none');
  const unstarted = s.think();
  worker(s, 2).die({ code: null, fault: { code: 'worker_start_failed', message: 'no such file' } });
  t.same(await unstarted, { ok: false, code: 'worker_start_failed', message: 'no such file' });
  t.same(s.booked(), [], 'nothing was asked, nothing is charged');
});

t.test('a worker that dies with a call open is charged for it, once', async (t) => {
  const s = thinkStage(t);
  const asked = s.think();
  plays(worker(s), [...call(1, 10), { type: 'progress', progress: { event: 'round', round: 2 } }]);
  worker(s).die({ code: null, signal: 'SIGKILL' });
  t.match(await asked, { ok: false, code: 'worker_lost', message: /SIGKILL/ });
  const booked = s.booked() as [string, number, string, number, number, boolean][];
  t.equal(booked.length, 2);
  t.match(booked[1], ['think', 2, 'small', Number, 0, true]);
  t.ok((booked[1]?.[3] ?? 0) > 0);
});

t.test('an abort goes down the ladder, and the answer is that it was cancelled', async (t) => {
  const s = thinkStage(t);
  const stop = new AbortController();
  const asked = s.think({}, stop.signal);
  worker(s).say({ type: 'progress', progress: { event: 'round', round: 1 } });
  stop.abort();
  t.same(worker(s).ends, ['cancel']);
  worker(s).die({ code: 1 });
  t.match(await asked, { ok: false, code: 'cancelled' });
  t.equal(s.booked().length, 1, 'the request was out');
  t.equal(s.clock.waiting, 0, 'no timer is left');
  t.match(await s.think({}, stop.signal), { ok: false, code: 'cancelled' });
  t.equal(s.workers.length, 1, 'nothing is started for what is over');
});

t.test('its deadline ends it', async (t) => {
  const s = thinkStage(t);
  const asked = s.think();
  await s.clock.advance(12_000);
  t.same(worker(s).ends, ['deadline']);
  worker(s).die({ code: null, signal: 'SIGTERM' });
  t.match(await asked, { ok: false, code: 'deadline' });
});

t.test('the end of the supervisor ends what still thinks, and waits for it', async (t) => {
  const s = thinkStage(t);
  const asked = s.think();
  let closed = false;
  const closing = s.thinker.close().then(() => {
    closed = true;
  });
  await s.clock.advance(0);
  t.same(worker(s).ends, ['drain']);
  t.equal(closed, false);
  worker(s).die({ code: 1 });
  await closing;
  t.match(await asked, { ok: false, code: 'cancelled' });
  t.match(await s.think(), { ok: false, code: 'cancelled' });
});

t.test('a budget lets its calls go one by one, and counts what they used', async (t) => {
  const s = thinkStage(t, { intelligence: budget({ windows: [window('day', { tokens: 400 })] }) });
  const asked = s.think();
  const w = worker(s);
  w.say({ type: 'budget_request', id: 7, estimate_tokens: 150 });
  t.same(w.sent[1], { type: 'budget_answer', id: 7, answer: { kind: 'go' } });
  t.match(s.store.reservations.all(), [
    { purpose: 'think', call_index: 1, input_tokens: 50, output_tokens: 100 },
  ]);
  plays(w, [...call(1, 120), outcome('done')]);
  await asked;
  t.same(s.store.reservations.all(), []);
  t.match(s.store.spending.get('instance', 'day', Math.floor(s.clock.now() / 86_400_000) * 86_400_000), {
    tokens: 121,
    requests: 1,
  });
});

t.test(
  'what was let go and never begun is given back; what was begun is charged at what was held',
  async (t) => {
    const s = thinkStage(t, { intelligence: budget({ lifetime: { tokens: 400, cost: null } }) });
    const spent = (): unknown => s.store.spending.get('instance', 'lifetime', 0)?.tokens;
    const first = s.think();
    worker(s).say({ type: 'budget_request', id: 1, estimate_tokens: 150 });
    worker(s).die({ code: null, signal: 'SIGKILL' });
    await first;
    t.same([s.store.reservations.all(), spent(), s.freed()], [[], undefined, 1]);
    const second = s.think();
    worker(s, 1).say({ type: 'budget_request', id: 1, estimate_tokens: 150 });
    worker(s, 1).say({ type: 'progress', progress: { event: 'round', round: 1 } });
    worker(s, 1).die({ code: null, signal: 'SIGKILL' });
    await second;
    t.same([s.store.reservations.all(), spent()], [[], 150]);
    t.same(s.booked(), [['think', 1, 'small', 50, 100, true]]);
  },
);

t.test('a budget that has no room says so without a worker', async (t) => {
  const tactics = [
    [budget({ lifetime: { tokens: 200, cost: null } }), 'exhausted_tokens'],
    [budget({ windows: [window('day', { tokens: 200 })], on_exhausted: 'refuse' }), 'refused'],
  ] as const;
  for (const [intelligence, code] of tactics)
    await t.test(code, async (t) => {
      const s = thinkStage(t, { intelligence });
      const first = s.think();
      plays(worker(s), [...call(1, 190), outcome('all of it')]);
      await first;
      t.match(await s.think(), { ok: false, code, message: /no room/ });
      t.equal(s.workers.length, 1);
    });
});

t.test(
  'a supervisor that was lost while a model thought charges for it at the next start, once',
  async (t) => {
    const s = thinkStage(t, { intelligence: budget({ lifetime: { tokens: 400, cost: null } }) });
    void s.think();
    worker(s).say({ type: 'budget_request', id: 1, estimate_tokens: 150 });
    recover(s.store, s.governor, 2_000);
    recover(s.store, s.governor, 3_000);
    t.same(s.booked(), [['think', 1, 'small', 50, 100, true]]);
    t.equal(s.store.spending.get('instance', 'lifetime', 0)?.tokens, 150);
    t.same(s.store.reservations.all(), []);
  },
);
