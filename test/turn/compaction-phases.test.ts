// When a thread is folded around and within its turns, and how much of it is read and shown then.
import t from 'tap';
import { estimateMessages } from '../../shared/transcript/estimate-tokens.js';
import type { Message } from '../../shared/transcript/message.js';
import { brokenHistory } from '../fakes/history-rules.js';
import { long, longThread, NO_SIGNAL } from '../fakes/long-thread.js';
import { THREAD } from '../fakes/open-store.js';
import { SETTINGS } from '../fakes/played-turn.js';

const REQUEST: Message = { role: 'user', text: 'as it began' };
const REFERENCE: Message = { role: 'note', text: 'For reference: the harbour opens at six.' };

const textOf = (messages: readonly Message[]): string => JSON.stringify(messages);
const frontOf = ([front]: readonly Message[]): string => (front?.role === 'system' ? front.text : '');

t.test(
  'forty results that fill the window twice over, and a message of three megabytes, leave a next turn',
  async (t) => {
    const { accept, round, phases, view, room, end, tokens, store, rooms } = longThread(t, {
      window: 32_000,
    });
    rooms.of(SETTINGS, 'You are a test.', []);
    const message = `begin ${'m'.repeat(3_000_000)} end`;
    accept('turn_1', message);
    await phases.before({ turnId: 'turn_1', threadId: THREAD }, NO_SIGNAL);
    t.match(
      store.artifacts.list(THREAD, 'message of turn_1', 2),
      [{ bytes: message.length }],
      'kept whole, once',
    );
    const snapshot = {
      model: SETTINGS,
      system_prompt: 'You are a test.',
      tools: [],
      messages: [REQUEST, REFERENCE],
    };
    round(
      'turn_1',
      'I fetch',
      Array.from({ length: 40 }, (_, index) => ({
        id: `call_${index}`,
        tool: 'web_fetch',
        args: { url: `http://x/${index}` },
        result: { text: `page ${index} ${'{"k":[1,2]},'.repeat(5_400)}` },
      })),
    );
    const turn = { turnId: 'turn_1', threadId: THREAD, snapshot };
    const { messages } = await phases.within(turn, 'threshold', NO_SIGNAL);
    if (messages === null) throw new Error('there is something to gain');
    t.ok(textOf(messages).length / 4 < room(), `${textOf(messages).length} characters for ${room()} tokens`);
    t.same(brokenHistory(messages), []);
    t.match(
      messages.find(({ role }) => role === 'user'),
      { text: /artifact artifact_\S+ holds all of it/ },
    );
    t.match(textOf(messages), /page 39 /);
    t.same(
      messages[messages.findIndex(({ role }) => role === 'user') + 1],
      REFERENCE,
      'what no journal holds stays',
    );
    end('turn_1');
    accept('turn_2', 'and now?');
    await phases.before({ turnId: 'turn_2', threadId: THREAD }, NO_SIGNAL);
    t.ok(tokens('turn_2') < room(), `${tokens('turn_2')} tokens`);
    t.same(brokenHistory(view('turn_2')), []);
    t.match(frontOf(view('turn_2')), /web_fetch .*http:\/\/x\/39.*: done/);
  },
);

t.test('a thread is folded before and after a turn only when it outgrew its window', async (t) => {
  const thread = longThread(t, { window: 40_000 });
  thread.turn('turn_0', long('question'));
  const turn = { turnId: 'turn_0', threadId: THREAD };
  t.equal(thread.phases.after(turn, NO_SIGNAL), null, 'at once: there is nothing to do');
  t.equal(thread.phases.before(turn, NO_SIGNAL), null);
  for (let index = 1; index < 40; index += 1) thread.turn(`turn_${index}`, long(`question ${index}`));
  const last = { turnId: 'turn_39', threadId: THREAD };
  await thread.phases.after(last, NO_SIGNAL);
  t.match(thread.told, [{ phase: 'started' }, { phase: 'done' }]);
  t.equal(thread.phases.after(last, NO_SIGNAL), null);
  const stuck = longThread(t, { window: 40_000 });
  stuck.accept('turn_1', 'q'.repeat(200_000));
  const only = { turnId: 'turn_1', threadId: THREAD };
  await stuck.phases.before(only, NO_SIGNAL);
  t.equal(stuck.phases.before(only, NO_SIGNAL), null, 'what cannot be folded is not tried again');
});

t.test('a refusal makes the room smaller, and it is remembered', async (t) => {
  const thread = longThread(t, { window: 100_000 });
  for (let index = 0; index < 30; index += 1) thread.turn(`turn_${index}`, long(`question ${index}`));
  const snapshot = {
    model: SETTINGS,
    system_prompt: 'You are a test.',
    tools: [],
    messages: [REQUEST, REFERENCE],
  };
  const before = thread.rooms.usual(SETTINGS);
  const whole = thread.tokens('turn_29');
  const turn = { turnId: 'turn_29', threadId: THREAD, snapshot };
  const { messages } = await thread.phases.within(turn, 'overflow', NO_SIGNAL);
  t.ok(messages !== null && estimateMessages(messages) < 0.8 * whole);
  const after = thread.rooms.usual(SETTINGS);
  t.ok(after.window < before.window, `${after.window} of ${before.window}`);
  t.equal(thread.store.calibrations.get('other', 1).too_long_tokens, null);
});

t.test('what a turn is shown is read from the cut on, however long its thread is', async (t) => {
  const thread = longThread(t, { window: 100_000 });
  const page = 'x'.repeat(200_000);
  for (let index = 0; index < 100; index += 1) thread.turn(`turn_${index}`, page);
  await thread.phases.after({ turnId: 'turn_99', threadId: THREAD }, NO_SIGNAL);
  const row = thread.store.summaries.get(THREAD);
  const cut = { turnId: String(row?.summary['through_turn']), seq: row?.upto_seq ?? 0 };
  t.ok(thread.store.events.shown(THREAD, 'turn_99', cut).length < 20);
  const bytes = thread.store.events.shownBytes(THREAD, 'turn_99', cut);
  t.ok(bytes < 1_000_000, `${bytes} of 20 MB are read`);
  t.ok(thread.tokens('turn_99') < thread.room());
});
