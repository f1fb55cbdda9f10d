// Everything that starts a turn comes through one door: what is let in is durable and done once, what is not is refused
// in words, and turns write to other threads only on behalf of whoever they work for.
import t, { type Test } from 'tap';
import { type Clock, systemClock } from '../../shared/clock.js';
import { MESSAGE_SEND } from '../../shared/tools/message-tools.js';
import type { IncomingMessage } from '../../supervisor/intake/accept-message.js';
import { Door } from '../../supervisor/intake/door.js';
import type { Refusal } from '../../supervisor/intake/door-rules.js';
import type { MailRules } from '../../supervisor/intake/mail.js';
import { postOffice } from '../../supervisor/intake/post-office.js';
import { messageSendTool } from '../../supervisor/tools/message-send.js';
import { done, request, type Stage, settleDown, stage, worker } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';

interface Hall extends Stage {
  readonly door: Door;
  readonly refusals: string[];
  send(message: Partial<IncomingMessage>): ReturnType<Door['accept']>;
}

interface HallOptions {
  readonly rules?: Partial<MailRules>;
  readonly clock?: Clock;
  readonly cap?: number;
  readonly dir?: string;
  readonly keepsTime?: boolean;
}

/** A stage with a door, and turns that may write letters. */
function hall(t: Test, options: HallOptions = {}): Hall {
  const { clock = systemClock, keepsTime = true } = options;
  const refusals: string[] = [];
  let door: Door | null = null;
  const there = (): Door => door as Door;
  let opened: Stage | null = null;
  const office = messageSendTool({
    post: (letter) => postOffice({ store: s.store, door: there, runs: 'now' }).post(letter),
    postLater: (letter, at) => postOffice({ store: s.store, door: there, runs: 'now' }).postLater(letter, at),
  });
  const s: Stage = stage(t, {
    ...(options.cap === undefined ? {} : { cap: options.cap }),
    ...(options.dir === undefined ? {} : { dir: options.dir }),
    clock,
    deadlineMs: 86_400_000,
    tools: { [MESSAGE_SEND]: office },
  });
  opened = s;
  door = new Door({
    store: opened.store,
    clock,
    keepsTime,
    rules: {
      maxMessageDepth: 8,
      perPrincipal: 100,
      total: 200,
      wakes: true,
      waiting: (principal) => s.scheduler.waiting(principal),
      ...options.rules,
    },
    accepted: ({ turnId, threadId, principal, lane }) =>
      s.scheduler.enqueue({ turnId, threadId, principal, lane }),
    noted: () => undefined,
    refused: (_message, { code }) => void refusals.push(code),
  });
  t.teardown(() => there().close());
  const send: Hall['send'] = (message) =>
    there().accept({ threadId: 'root', workspaceRoot: '/', principal: 'operator', text: 'go', ...message });
  return { ...s, door: there(), refusals, send };
}

const codeOf = (answer: ReturnType<Door['accept']>): Refusal['code'] | 'ok' =>
  answer.ok ? 'ok' : answer.code;
const idOf = (answer: ReturnType<Door['accept']>): string => (answer.ok ? answer.turnId : answer.code);
const turnsOf = (h: Hall, thread: string) => h.store.turns.ofThread(thread);

t.test('the same delivery again gets the first answer, and makes no second turn', async (t) => {
  const h = hall(t);
  const sent = h.send({ eventId: 'event_1', text: 'once' });
  const again = h.send({ eventId: 'event_1', text: 'once, in other words' });
  t.match(again, { ok: true, turnId: idOf(sent), repeated: true });
  t.equal(idOf(h.send({ turnId: idOf(sent), text: 'once' })), idOf(sent));
  t.equal(codeOf(h.send({ turnId: idOf(sent), text: 'something else' })), 'id_taken');
  t.equal(codeOf(h.send({ eventId: 'event_1', principal: 'somebody', threadId: 'theirs' })), 'id_taken');
  t.equal(turnsOf(h, 'root').length, 1);
  t.equal(h.store.threads.get('theirs'), undefined, 'a refusal writes nothing');
  (await worker(h)).say(done());
  await h.scheduler.whenSettled(idOf(sent));
  t.equal(idOf(h.send({ eventId: 'event_1' })), idOf(sent), 'after its end too');
});

t.test('a principal reaches its own threads only; the operator and work for nobody reach all', async (t) => {
  const h = hall(t);
  h.send({ threadId: 'hers', principal: 'ann' });
  t.equal(codeOf(h.send({ threadId: 'hers', principal: 'ann' })), 'ok');
  t.equal(codeOf(h.send({ threadId: 'hers', principal: 'bob' })), 'not_owner');
  t.equal(codeOf(h.send({ threadId: 'hers', principal: 'operator' })), 'ok');
  t.equal(codeOf(h.send({ threadId: 'hers', principal: '' })), 'ok');
  t.equal(turnsOf(h, 'hers').length, 4);
  t.same(h.refusals, ['not_owner']);
});

t.test('too many that wait are refused, of one sender and in all', async (t) => {
  const h = hall(t, { cap: 1, rules: { perPrincipal: 2, total: 3 } });
  const codes = (principal: string, count: number) =>
    Array.from({ length: count }, (_, n) => codeOf(h.send({ principal, threadId: `${principal}${n}` })));
  t.same(codes('ann', 4), ['ok', 'ok', 'ok', 'queue_full'], 'the first one is at work and waits no more');
  t.same(codes('bob', 2), ['ok', 'queue_full']);
  const [first] = turnsOf(h, 'ann0');
  (await worker(h)).say(done());
  h.workers[0]?.die({});
  await h.scheduler.whenSettled(first?.turn_id ?? '');
  await settleDown();
  t.equal(codeOf(h.send({ principal: 'bob', threadId: 'bob9' })), 'ok', 'there is room again');
});

t.test('a turn writes to another thread, which takes a turn of its own', async (t) => {
  const h = hall(t);
  h.send({ principal: 'ann', threadId: 'hers' });
  const w = await worker(h);
  w.say(request(1, 'call_1', MESSAGE_SEND, { to: 'new', text: 'please look' }));
  await settleDown();
  const answered = w.sent.find((frame) => frame.type === 'tool_answered');
  t.match(answered, {
    result: { is_error: false, content: { ok: true, thread_id: /^thread_/, turn_id: /^turn_/ } },
  });
  const content = (answered as unknown as { result: { content: { thread_id: string; turn_id: string } } })
    .result.content;
  t.match(h.store.inbox.ofTurn(content.turn_id), {
    producer: 'message',
    principal: 'ann',
    lane: 'background',
    hop: 1,
    text: 'please look',
  });
  t.equal(h.store.threads.get(content.thread_id)?.owner, 'ann');
  t.equal(h.workers.length, 2, 'it runs beside its sender');
});

t.test('a message that cannot be sent is an error that the model can act on', async (t) => {
  const h = hall(t);
  h.send({ principal: 'ann', threadId: 'hers' });
  h.send({ principal: 'bob', threadId: 'his' });
  const w = await worker(h);
  const cases: [string, RegExp][] = [
    ['hers', /own thread/],
    ['his', /somebody else/],
    ['nowhere', /no thread nowhere/],
  ];
  for (const [n, [to]] of cases.entries())
    w.say(request(n + 1, `call_${n}`, MESSAGE_SEND, { to, text: 'hello' }));
  await settleDown();
  const results = w.sent.flatMap((frame) => (frame.type === 'tool_answered' ? [frame.result] : []));
  t.match(
    results,
    cases.map(([, words]) => ({ is_error: true, content: { error: words } })),
  );
  t.same(h.refusals, ['not_owner']);
  t.equal(turnsOf(h, 'his').length, 1);
});

t.test('messages that follow from messages come to an end', async (t) => {
  const h = hall(t, { rules: { maxMessageDepth: 2 } });
  h.send({ threadId: 'first' });
  const hops: (number | string)[] = [];
  for (let n = 0; n < 3; n += 1) {
    const w = await worker(h, n);
    w.say(request(1, `call_${n}`, MESSAGE_SEND, { to: 'new', text: 'and you?' }));
    await settleDown();
    const answer = w.sent.find((frame) => frame.type === 'tool_answered') as unknown as {
      result: { content: { turn_id?: string; code?: string } };
    };
    const { turn_id: turnId, code } = answer.result.content;
    hops.push(code ?? h.store.inbox.ofTurn(turnId ?? '')?.hop ?? 'none');
  }
  t.same(hops, [1, 2, 'too_many_hops']);
});

t.test('a message for later is delivered when its time has come, over restarts, once', async (t) => {
  const clock = new FakeClock();
  const dir = `${t.testdir({})}/state`;
  const h = hall(t, { clock, dir });
  const sent = h.send({});
  const w = await worker(h);
  w.say(request(1, 'call_1', MESSAGE_SEND, { to: 'new', text: 'in time', after: '10m' }));
  await settleDown();
  t.match(
    w.sent.find((frame) => frame.type === 'tool_answered'),
    { result: { content: { ok: true, deliver_at: new Date(clock.now() + 600_000).toISOString() } } },
  );
  w.say(done());
  w.die({});
  await h.scheduler.whenSettled(idOf(sent));
  await clock.advance(599_000);
  t.equal(h.workers.length, 1, 'not before its time');
  h.door.close();
  h.lose();

  const next = hall(t, { clock, dir });
  next.door.arm();
  t.equal(next.store.inbox.pending().length, 0);
  await clock.advance(2_000);
  t.match(next.store.inbox.pending(), [
    { producer: 'timer', text: 'in time', hop: 1, principal: 'operator' },
  ]);
  t.equal(next.store.timers.nextDueMs(), null);
  await clock.advance(600_000);
  t.equal(next.store.inbox.pending().length, 1, 'once');
});

t.test(
  'a timer that finds the queue full tries again, and one that may not come in is dropped',
  async (t) => {
    const clock = new FakeClock();
    const h = hall(t, { clock, cap: 1, rules: { total: 1 } });
    const row = {
      workspace_id: h.store.transact('open_thread', () => h.store.workspaces.ensure('/', 1)).workspace_id,
    };
    h.send({ threadId: 'other', principal: 'bob' });
    h.store.transact('state_tool', () => {
      for (const [thread_id, n] of [
        ['ann', 1],
        ['other', 2],
      ] as const)
        h.store.timers.insert({
          ...{ ...row, timer_id: `timer_${n}`, due_at_ms: clock.now() + n, thread_id },
          ...{ principal: 'ann', text: 'due', hop: 0, created_at_ms: 1 },
        });
    });
    h.send({ threadId: 'second' });
    h.door.arm();
    await clock.advance(10);
    t.same(h.refusals, ['queue_full', 'not_owner']);
    t.not(h.store.timers.nextDueMs(), null, 'the one that found no room stays');
    (await worker(h)).say(done());
    h.workers[0]?.die({});
    await clock.advance(30_000);
    t.equal(turnsOf(h, 'ann').length, 1);
    t.equal(h.store.timers.nextDueMs(), null);
  },
);

t.test('where messages do not wake the agent, they are notes that the next turn reads, once', async (t) => {
  const h = hall(t, { rules: { wakes: false } });
  h.send({ threadId: 'first' });
  const w = await worker(h);
  h.store.transact('open_thread', () =>
    h.store.threads.ensure('second', h.store.threads.get('first')?.workspace_id ?? '', 'operator', 1),
  );
  w.say(request(1, 'call_1', MESSAGE_SEND, { to: 'second', text: 'it is done' }));
  await settleDown();
  t.match(
    w.sent.find((frame) => frame.type === 'tool_answered'),
    { result: { is_error: false, content: { note: /next turn/ } } },
  );
  t.equal(turnsOf(h, 'second').length, 0, 'nothing runs for it');
  const notes = (turnId: string) =>
    h.store.events.ofTurn(turnId).flatMap(({ event }) => (event.kind === 'note' ? [event.text] : []));
  const reading = idOf(h.send({ threadId: 'second', text: 'what is new?' }));
  t.match(notes(reading), [/it is done/]);
  t.same(notes(idOf(h.send({ threadId: 'second' }))), [], 'it was read');
});

t.test('a note reaches the turn that waits already', async (t) => {
  const h = hall(t, { cap: 1, rules: { wakes: false } });
  h.send({ threadId: 'first' });
  const waiting = idOf(h.send({ threadId: 'second' }));
  (await worker(h)).say(request(1, 'call_1', MESSAGE_SEND, { to: 'second', text: 'before you start' }));
  await settleDown();
  t.same(h.kinds(waiting), ['user_message', 'note']);
});
