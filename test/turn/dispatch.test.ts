// The supervisor's half of a turn: durable steps, one settle, calls judged before anything happens.
import t from 'tap';
import type { JournalEvent } from '../../shared/journal.js';
import { recover } from '../../supervisor/dispatch/recover.js';
import { transcriptSlice } from '../../supervisor/snapshot/transcript-slice.js';
import type { Ask } from '../../supervisor/tools/running-turn.js';
import { assistant, done, request, settleDown, stage, worker } from '../fakes/dispatch-stage.js';

t.test('a turn is queued, starts, runs and ends, each step durable before the next', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  t.match(s.store.turns.get(id), {
    state: 'starting',
    worker_id: 'worker_played',
    pid: 999_999,
  });
  t.equal(w.sent[0]?.type, 'turn');
  w.say({ type: 'progress', progress: { event: 'round', round: 1 } });
  t.equal(s.store.turns.get(id)?.state, 'running');
  w.say(done());
  const row = await s.scheduler.whenSettled(id);
  t.match(row, { state: 'ended', status: 'completed', reply: 'the answer' });
  t.same(s.store.inbox.pending(), []);
  await settleDown();
  t.equal(s.store.turns.get(id)?.snapshot_hash, 'hash', 'its input has a name');
  t.equal(s.kinds(id).at(-1), 'turn_ended');
});

t.test('settle happens once, whatever arrives after it', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(done('completed', 'first'));
  w.say(done('failed', 'second'));
  w.die({ signal: 'SIGKILL', code: null });
  await settleDown();
  t.match(s.store.turns.get(id), { status: 'completed', reply: 'first' });
  t.equal(s.kinds(id).filter((kind) => kind === 'turn_ended').length, 1);
});

t.test('a worker that dies gives every open call one result, and the thread goes on', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  const call = (name: string) => ({
    call_id: `call_${name}`,
    name: 'exec_command',
    arguments: { command: 'true' },
  });
  w.say(assistant([call('running'), call('waiting')]));
  w.say(request(1, 'call_running', 'exec_command', { command: 'sleep 9' }));
  await settleDown();
  t.equal(w.sent.at(-1)?.type, 'tool_granted');
  w.die({ signal: 'SIGKILL', code: null });
  const row = await s.scheduler.whenSettled(id);
  t.match(row, { status: 'failed', error_code: 'worker_lost', error_message: /SIGKILL/ });
  const results = s.store.events
    .ofTurn(id)
    .map(({ event }) => event)
    .filter((event): event is Extract<JournalEvent, { kind: 'tool_result' }> => event.kind === 'tool_result');
  t.same(
    results.map(({ call_id, end }) => [call_id, end]),
    [
      ['call_running', 'interrupted'],
      ['call_waiting', 'not_started'],
    ],
  );
  const next = s.accept('and now?');
  const messages = transcriptSlice(s.store, 'root', next);
  t.match(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'note', 'user'],
  );
  (await worker(s, 1)).say(done());
  t.equal((await s.scheduler.whenSettled(next)).status, 'completed');
});

t.test('a thread takes its next turn only when the worker of the last one is gone', async (t) => {
  const s = stage(t);
  const first = s.accept('first');
  const w = await worker(s);
  w.say(done());
  await s.scheduler.whenSettled(first);
  s.accept('second');
  await settleDown();
  t.equal(s.workers.length, 1);
  w.die({});
  await settleDown();
  t.equal(s.workers.length, 2);
});

t.test('the result of a call is committed before the model may see it', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(assistant([{ call_id: 'call_1', name: 'exec_command', arguments: {} }]));
  w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
  await settleDown();
  const granted = w.sent.at(-1);
  t.match(granted, { type: 'tool_granted', id: 1, arguments: { command: 'true' } });
  t.equal(s.store.calls.get('call_1')?.state, 'running');
  w.say({
    type: 'tool_result',
    id: 1,
    call_id: 'call_1',
    result: { content: { output: 'canary-secret here' }, is_error: false },
    duration_ms: 3,
  });
  t.same(w.sent.at(-1), { type: 'tool_committed', id: 1 });
  t.equal(s.store.calls.get('call_1')?.state, 'done');
  t.notMatch(
    JSON.stringify(s.store.events.ofTurn(id)),
    'canary-secret',
    'known secrets do not reach the journal',
  );
});

t.test('a result for a call that was never granted ends the worker as broken', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  const result = { content: 'x', is_error: false };
  w.say({ type: 'tool_result', id: 7, call_id: 'call_7', result, duration_ms: 1 });
  t.same(w.ends, ['protocol']);
  w.die({ signal: 'SIGKILL', code: null });
  t.match(await s.scheduler.whenSettled(id), { status: 'failed', error_code: 'protocol_violation' });
});

t.test('a call with unknown name or invalid arguments is refused before anything happens', async (t) => {
  const s = stage(t);
  s.accept('hello');
  const w = await worker(s);
  w.say(request(1, 'call_1', 'no_such_tool', {}));
  w.say(request(2, 'call_2', 'exec_command', { commando: 'true' }));
  await settleDown();
  t.match(w.sent.at(-2), { type: 'tool_answered', id: 1, result: { is_error: true, invalid: true } });
  t.match(w.sent.at(-1), {
    type: 'tool_answered',
    id: 2,
    result: { is_error: true, invalid: true, content: { error: /command/ } },
  });
  t.equal(s.store.calls.get('call_2')?.state, 'denied');
});

t.test('state tools change and record in one transaction', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(request(1, 'call_1', 'memory.set', { key: 'colour', value: 'green' }));
  await settleDown();
  t.match(w.sent.at(-1), { type: 'tool_answered', id: 1, result: { is_error: false } });
  t.equal(s.store.memory.get('colour', 1)?.value, 'green');
  t.same(s.kinds(id), ['user_message', 'tool_intent', 'tool_result']);
});

t.test('a restricted mode refuses what nobody can answer, and lists it', async (t) => {
  const s = stage(t, { mode: 'supervised' });
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
  w.say(request(2, 'call_2', 'read_file', { path: 'x' }));
  await settleDown();
  t.match(
    w.sent.find((frame) => frame.type === 'tool_answered'),
    { id: 1, result: { is_error: true } },
  );
  t.match(
    w.sent.find((frame) => frame.type === 'tool_granted'),
    { id: 2 },
  );
  t.match(
    s.store.events
      .ofTurn(id)
      .map(({ event }) => event)
      .filter((event) => event.kind === 'tool_intent'),
    [
      { tool: 'read_file', verdict: 'allow' },
      { tool: 'exec_command', verdict: 'deny', asked: true },
    ],
  );
});

t.test(
  'of two calls side by side one may be allowed and the other refused; each has its one result',
  async (t) => {
    const ask: Ask = async ({ callId }) => (callId === 'call_1' ? 'allow' : 'deny');
    const s = stage(t, { mode: 'supervised', ask });
    const id = s.accept('hello');
    const w = await worker(s);
    w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
    w.say(request(2, 'call_2', 'exec_command', { command: 'false' }));
    await settleDown();
    t.same(
      w.sent.flatMap((frame) => (frame.type === 'tool_granted' ? [frame.id] : [])),
      [1],
    );
    t.match(
      w.sent.find((frame) => frame.type === 'tool_answered'),
      {
        id: 2,
        result: { is_error: true, content: { error: /refused when asked/ } },
      },
    );
    const result = { content: 'ok', is_error: false };
    w.say({ type: 'tool_result', id: 1, call_id: 'call_1', result, duration_ms: 1 });
    w.die({ code: null, signal: 'SIGKILL' });
    await s.scheduler.whenSettled(id);
    const results = s.store.events
      .ofTurn(id)
      .flatMap(({ event }) => (event.kind === 'tool_result' ? [[event.call_id, event.end]] : []));
    t.same(results, [
      ['call_2', 'denied'],
      ['call_1', 'done'],
    ]);
  },
);

t.test('a yes that comes after the cancel runs nothing', async (t) => {
  let answer: (value: 'allow') => void = () => undefined;
  const ask: Ask = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const s = stage(t, { mode: 'supervised', ask });
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
  await settleDown();
  s.scheduler.requestEnd(id, 'cancel');
  answer('allow');
  await settleDown();
  t.notOk(w.sent.some((frame) => frame.type === 'tool_granted'));
});

t.test('a cancel', async (t) => {
  t.test('in the same burst as the message is durable before it returns, and holds', async (t) => {
    const s = stage(t);
    const id = s.accept('hello');
    t.ok(s.scheduler.requestEnd(id, 'cancel'));
    t.equal(s.store.turns.get(id)?.end_requested, 'cancel');
    const w = await worker(s);
    t.same(w.ends, ['cancel']);
    w.die({ code: null, signal: 'SIGTERM' });
    t.match(await s.scheduler.whenSettled(id), { status: 'cancelled' });
  });
  t.test('of a queued turn ends it without a worker', async (t) => {
    const s = stage(t, { cap: 1 });
    s.accept('first', 'a');
    const second = s.accept('second', 'b');
    await worker(s);
    s.scheduler.requestEnd(second, 'cancel');
    t.match(await s.scheduler.whenSettled(second), { status: 'cancelled', worker_id: null });
    t.equal(s.workers.length, 1);
  });
  t.test('outranks an answer that raced it, and is refused once the turn has ended', async (t) => {
    const s = stage(t);
    const id = s.accept('hello');
    const w = await worker(s);
    s.scheduler.requestEnd(id, 'cancel');
    w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
    await settleDown();
    t.match(w.sent.at(-1), { type: 'tool_answered', result: { is_error: true } }, 'no tool starts after it');
    w.say(done());
    t.match(await s.scheduler.whenSettled(id), { status: 'cancelled' });
    t.notOk(s.scheduler.requestEnd(id, 'cancel'));
  });
});

t.test('a model call whose answer never came is charged at its estimate', async (t) => {
  const s = stage(t);
  const id = s.accept('a message of some length to be estimated');
  const w = await worker(s);
  w.say({ type: 'progress', progress: { event: 'round', round: 1 } });
  w.die({ signal: 'SIGKILL', code: null });
  await s.scheduler.whenSettled(id);
  const usage = s.store.usage.ofTurn(id);
  t.ok(usage.input_tokens > 0);
  t.ok(usage.estimated);
});

t.test('recovery ends what an earlier job left, once, and says what is known', async (t) => {
  const s = stage(t, { cap: 1 });
  const running = s.accept('running', 'a', 'operator', 'job');
  const queued = s.accept('queued', 'b', 'operator', 'job');
  const w = await worker(s);
  w.say(assistant([{ call_id: 'call_1', name: 'exec_command', arguments: {} }]));
  w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
  await settleDown();
  t.same(new Set(recover(s.store, s.governor, 5).turns), new Set([running, queued]));
  t.match(s.store.turns.get(running), { status: 'failed', error_code: 'supervisor_lost' });
  t.match(s.store.turns.get(queued), { status: 'failed', error_message: /nothing was run/ });
  t.equal(s.store.calls.get('call_1')?.state, 'interrupted');
  t.same(recover(s.store, s.governor, 6).turns, []);
});
