// A turn as it is told to clients: which steps its events become, live and read back.
import t, { type Test } from 'tap';
import * as v from 'valibot';
import type { JournalEvent } from '../../shared/journal.js';
import { NOTIFICATIONS } from '../../shared/protocol/notifications.js';
import { permissionProfile } from '../../shared/protocol/permission.js';
import { notificationOf, payloadOf } from '../../shared/protocol/step-notification.js';
import { type Step, type StoryEvent, sequenceOf, TurnStory } from '../../shared/protocol/turn-story.js';

const ADDRESS = { workspace_id: 'w', thread_id: 't', turn_id: 'u' };
const fresh = (): TurnStory =>
  new TurnStory({ id: 'u', origin: 'user', profile: permissionProfile('supervised', 'composer') });
const journal = (event: JournalEvent): StoryEvent => ({ type: 'journal', event });
const delta = (item_id: string, text: string): StoryEvent => ({
  type: 'progress',
  progress: { event: 'delta', item_id, stream: 'text', text },
});
const answer = (item_id: string, text: string): StoryEvent =>
  journal({ kind: 'assistant_message', item_id, round: 1, text, calls: [], stop: 'stop', model: 'm' });

/** Tells all, each step held against the definition of its notification. */
function tell(t: Test, story: TurnStory, ...events: StoryEvent[]): Step[] {
  const steps = events.flatMap((event) => story.told(event, 5_000));
  for (const step of steps) {
    const { method, params } = notificationOf(ADDRESS, step);
    const parsed = v.safeParse(NOTIFICATIONS[method] as v.GenericSchema, params);
    if (!parsed.success) t.fail(`${method}: ${parsed.issues[0].message}`);
  }
  return steps;
}

t.test('an answer is opened by its first delta, and by itself where there was none', async (t) => {
  const types = (steps: Step[]) => steps.map(({ type }) => type);
  t.same(types(tell(t, fresh(), delta('i', 'a'), delta('i', 'b'), answer('i', 'ab'))), [
    'itemStarted',
    'itemDelta',
    'itemDelta',
    'itemCompleted',
  ]);
  t.same(types(tell(t, fresh(), answer('i', 'ab'))), ['itemStarted', 'itemCompleted']);
  t.same(tell(t, fresh(), answer('i', '')), [], 'an answer of calls alone is no item');
});

t.test('a result without a verdict still has an item', async (t) => {
  const steps = tell(
    t,
    fresh(),
    journal({
      kind: 'tool_result',
      call_id: 'c',
      tool: 'nonesuch',
      content: { error: 'unknown tool' },
      is_error: true,
      end: 'invalid',
      duration_ms: 0,
    }),
  );
  t.match(steps, [
    { type: 'itemStarted', item: { id: 'c', status: 'failed' } },
    { type: 'itemCompleted', item: { type: 'dynamicToolCall', success: false } },
  ]);
});

t.test('the eight ends of a turn are told in five words, and in full beside them', async (t) => {
  const expected = {
    completed: ['turn/completed', 'Completed'],
    failed: ['turn/failed', 'Failed'],
    cancelled: ['turn/failed', 'Interrupted'],
    refused: ['turn/failed', 'Failed'],
    exhausted_steps: ['turn/blocked', 'Blocked'],
    exhausted_tokens: ['turn/blocked', 'Blocked'],
    deadline: ['turn/failed', 'Failed'],
    loop_detected: ['turn/failed', 'Failed'],
  } as const;
  for (const [status, [method, word]] of Object.entries(expected)) {
    const error = status === 'completed' ? {} : { error: { code: status, message: 'why' } };
    const event = { kind: 'turn_ended', status, reply: '', ...error } as JournalEvent;
    const [step] = tell(t, fresh(), journal(event));
    if (step === undefined) throw new Error('nothing was told');
    t.match(notificationOf(ADDRESS, step), { method, params: { turn: { status: word, outcome: status } } });
  }
});

t.test('waits, retries, windows and folds are told as they are', async (t) => {
  const retry: StoryEvent = {
    type: 'progress',
    progress: { event: 'retry_scheduled', item_id: 'i', attempt: 2, delay_ms: 1_500, reason: 'overloaded' },
  };
  const round: StoryEvent = { type: 'progress', progress: { event: 'round', round: 4 } };
  const steps = tell(
    t,
    fresh(),
    { type: 'budget_wait', until_ms: null },
    round,
    retry,
    journal({ kind: 'window_opened', window: 2, reason: 'answered' }),
    { type: 'compaction', phase: 'started' },
    { type: 'compaction', phase: 'done', before_tokens: 900, after_tokens: 200 },
    { type: 'compaction', phase: 'nothing' },
  );
  t.match(
    steps.map((step) => notificationOf(ADDRESS, step)),
    [
      { method: 'turn/waiting', params: { waits_for: 'budget', until_ms: null } },
      {
        method: 'item/retry_scheduled',
        params: { recovery_job_id: 'u.4', attempt_number: 2, next_run_at_unix: 7 },
      },
      {
        method: 'turn/execution_window/started',
        params: { window_id: 'u.w2', window_index: 2, status: 'running', started_at_unix_ms: 5_000 },
      },
      { method: 'context/compressing' },
      { method: 'context/compressed', params: { compressed_tokens: 700 } },
      { method: 'context/compressed', params: { compressed_tokens: 0 } },
    ],
  );
  t.same(
    steps.map((step) => payloadOf(ADDRESS, step)?.type ?? null),
    [null, null, 'turnExecutionWindowStarted', null, null, null],
    'only what is journaled is read back',
  );
});

t.test('places in the story are the same live and read back, and grow', async (t) => {
  const user: JournalEvent = { kind: 'user_message', item_id: 'user_u', text: 'x', principal: 'operator' };
  const live = fresh();
  const places = (steps: Step[], seq: number) =>
    steps.map((step) => [step.type, sequenceOf(step, seq)] as const);
  const told = [
    ...places(live.told(journal(user), 1), 1),
    ...places(live.told(delta('i', 'a'), 1), 0).slice(0, 0),
    ...places(live.told(answer('i', 'a'), 1), 2),
  ];
  const replayed = fresh();
  const read = [
    ...places(replayed.told(journal(user), 1), 1),
    ...places(replayed.told(answer('i', 'a'), 1), 2),
  ];
  for (const [type, place] of told)
    t.ok(
      read.some(([other, at]) => other === type && at === place),
      `${type} ${place}`,
    );
  const all = read.map(([, place]) => place);
  t.same(
    all,
    [...new Set(all)].sort((left, right) => left - right),
  );
});
