// Calls that wait: durable from their first moment, answered once, whatever races.
import t from 'tap';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { Ask } from '../../supervisor/tools/running-turn.js';
import type { AnswerWait, WaitingTool } from '../../supervisor/tools/waiting-tool.js';
import { ASK, answer, asking, resultsOf } from '../fakes/asking-turn.js';
import { assistant, done, request, settleDown, stage, worker } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';

t.test(
  'a question is open from its intent on, and its answer goes to the worker once it is durable',
  async (t) => {
    const s = stage(t);
    const { id, w } = await asking(s);
    t.match(s.store.waits.openOf(id), [{ wait_id: 'call_1', tool: 'ask_human', subject: ASK, open: true }]);
    t.equal(s.store.calls.get('call_1')?.state, 'running');
    t.equal(w.sent.length, 1, 'nothing is answered yet');
    t.equal(answer(s, 'call_1', 'green', 'stranger'), 'unknown', 'who may not see the thread may not answer');
    t.equal(answer(s, 'call_1'), 'answered');
    t.match(w.sent.at(-1), { type: 'tool_answered', id: 1, result: { content: { reply: 'green' } } });
    t.match(resultsOf(s, id), [{ call_id: 'call_1', end: 'done', content: { reply: 'green' } }]);
    t.equal(s.store.calls.get('call_1')?.state, 'done');
    t.equal(answer(s, 'call_1', 'red'), 'already_answered');
    t.equal(answer(s, 'call_2'), 'unknown');
    w.say(done());
    t.match(await s.scheduler.whenSettled(id), { status: 'completed' });
    t.equal(resultsOf(s, id).length, 1);
  },
);

t.test('a question that nobody can answer is refused at once, and counts as refused', async (t) => {
  const s = stage(t, { audience: 'nobody' });
  const { id, w } = await asking(s);
  t.match(w.sent.at(-1), { type: 'tool_answered', result: { is_error: true } });
  const intent = s.store.events.ofTurn(id).find(({ event }) => event.kind === 'tool_intent')?.event;
  t.match(intent, { verdict: 'deny', asked: true, reason: /nobody/ });
  t.same(s.store.waits.openOf(id), []);
  t.equal(s.store.calls.get('call_1')?.state, 'denied');
});

t.test('somebody at hand is asked, and their silence is an answer too', async (t) => {
  for (const reply of ['blue', null]) {
    const s = stage(t, { audience: () => Promise.resolve(reply), dir: `${t.testdir({})}/${reply}` });
    const { w } = await asking(s);
    t.match(w.sent.at(-1), {
      type: 'tool_answered',
      result: { content: { reply, timed_out: reply === null }, is_error: false },
    });
  }
});

t.test('a sleep ends when its time has come, by the clock on the wall, and not before', async (t) => {
  const clock = new FakeClock();
  const s = stage(t, { clock, deadlineMs: 3_600_000 });
  s.accept('hello');
  const w = await worker(s);
  w.say(request(1, 'call_1', 'sleep', { duration: '30s' }));
  await clock.advance(29_000);
  t.equal(w.sent.length, 1);
  await clock.advance(1_500);
  t.match(w.sent.at(-1), { type: 'tool_answered', result: { content: { slept_ms: Number } } });
});

t.test('other turns are waited for', async (t) => {
  const s = stage(t);
  const child = s.accept('child', 'other');
  const id = s.accept('hello');
  const w = await worker(s, 1);
  const ask = (n: number, args: Record<string, unknown>) =>
    w.say(request(n, `call_${n}`, 'await', args as never));
  ask(1, { turns: [id] });
  ask(2, { threads: ['root'] });
  ask(3, { turns: ['turn_nowhere'] });
  await settleDown();
  for (const n of [1, 2, 3])
    t.match(
      w.sent.find((frame) => frame.type === 'tool_answered' && frame.id === n),
      { result: { is_error: true } },
      'it would wait for ever',
    );
  ask(4, { turns: [child] });
  ask(5, { threads: ['other'], until: '2999-01-01T00:00:00Z', mode: 'any' });
  await settleDown();
  t.equal(s.store.waits.openOf(id).length, 2);
  (await worker(s, 0)).say(done('completed', 'the child says so'));
  await s.scheduler.whenSettled(child);
  await settleDown();
  for (const n of [4, 5])
    t.match(
      w.sent.find((frame) => frame.type === 'tool_answered' && frame.id === n),
      {
        result: {
          content: { satisfied: true, turns: [{ status: 'completed', reply: 'the child says so' }] },
        },
      },
    );
  ask(6, { turns: [child] });
  await settleDown();
  t.match(w.sent.at(-1), { type: 'tool_answered', id: 6, result: { content: { satisfied: true } } });
});

t.test('whatever races for a wait, its call has one result', async (t) => {
  let give: AnswerWait = () => undefined;
  let stopped = 0;
  const tool: WaitingTool = {
    begin: () => ({ subject: {}, wakeAtMs: null }),
    arm: (_wait, answer) => {
      give = answer;
      return () => {
        stopped += 1;
      };
    },
  };
  const late: ToolResult = { content: 'late', is_error: false };
  t.test('a tool that answers at once', async (t) => {
    const eager: WaitingTool = {
      ...tool,
      arm: (_wait, answer) => {
        answer({ content: 'now', is_error: false });
        answer(late);
        return () => t.fail('an answered wait is not stopped');
      },
    };
    const s = stage(t, { tools: { ask_human: eager } });
    const { id, w } = await asking(s);
    t.match(w.sent.at(-1), { type: 'tool_answered', result: { content: 'now' } });
    t.equal(resultsOf(s, id).length, 1);
  });
  t.test('an answer after the end, and one after a drain', async (t) => {
    for (const end of ['cancel', 'drain'] as const) {
      stopped = 0;
      const s = stage(t, { tools: { ask_human: tool }, dir: `${t.testdir({})}/${end}` });
      const { id, w } = await asking(s);
      if (end === 'cancel') s.scheduler.requestEnd(id, 'cancel');
      else void s.scheduler.drain(0);
      w.die({ code: null, signal: 'SIGKILL' });
      await settleDown();
      give(late);
      give(late);
      await settleDown();
      const results = resultsOf(s, id);
      if (end === 'cancel') {
        t.equal(stopped, 1);
        t.match(results, [{ end: 'interrupted' }]);
      } else t.ok(results.length <= 1, 'open, or answered once');
    }
  });
  t.test('what changes with an answer is in its transaction', async (t) => {
    const s = stage(t, { tools: { ask_human: tool } });
    const { id, w } = await asking(s);
    give(late, () => {
      throw new Error('the disk is full');
    });
    await settleDown();
    t.same(w.ends, ['protocol'], 'a step that cannot be written down ends the turn');
    w.die({ code: null, signal: 'SIGKILL' });
    t.match(await s.scheduler.whenSettled(id), { status: 'failed' });
    t.match(resultsOf(s, id), [{ end: 'interrupted' }]);
  });
});

t.test('a yes that comes after the end of its turn leaves the call with its one result', async (t) => {
  let allow: (value: 'allow') => void = () => undefined;
  const ask: Ask = () =>
    new Promise((resolve) => {
      allow = resolve;
    });
  const s = stage(t, { mode: 'supervised', ask });
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(assistant([{ call_id: 'call_1', name: 'exec_command', arguments: { command: 'x' } }]));
  w.say(request(1, 'call_1', 'exec_command', { command: 'x' }));
  await settleDown();
  w.die({ code: null, signal: 'SIGKILL' });
  await s.scheduler.whenSettled(id);
  allow('allow');
  await settleDown();
  t.match(resultsOf(s, id), [{ call_id: 'call_1', end: 'not_started' }]);
  t.equal(resultsOf(s, id).length, 1);
  t.equal(s.kinds(id).at(-1), 'turn_ended', 'and nothing is written behind the end');
});
