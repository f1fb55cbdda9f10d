// The arithmetic of compaction: where a cut may be, what fits, what is learned about estimates, what a summary says.
import assert from 'node:assert';
import t from 'tap';
import type { JournalEvent } from '../../shared/journal.js';
import { learn, learnTooLong, UNCALIBRATED } from '../../shared/transcript/calibration.js';
import { estimateMessage, estimateMessages } from '../../shared/transcript/estimate-tokens.js';
import { fitHistory, shortText } from '../../shared/transcript/fit.js';
import type { Message } from '../../shared/transcript/message.js';
import { repairHistory } from '../../shared/transcript/repair.js';
import { roomOf } from '../../shared/transcript/room.js';
import { EMPTY_SUMMARY } from '../../shared/transcript/summary.js';
import { threadSlice } from '../../shared/transcript/thread-slice.js';
import { planCompaction } from '../../supervisor/context/compact-plan.js';
import { withFacts } from '../../supervisor/context/summary-merge.js';
import { windowByName } from '../../supervisor/intelligence/model-window.js';
import type { EventRow } from '../../supervisor/store/rows.js';
import { brokenHistory } from '../fakes/history-rules.js';

/** Small, fast and the same in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function resultOf(callId: string, content: string): JournalEvent {
  const end = { content, is_error: false, end: 'done', duration_ms: 1 } as const;
  return { kind: 'tool_result', call_id: callId, tool: 'read_file', ...end };
}

/** A journal of whole turns with rounds of one to five calls side by side, results in any order. */
function anyThread(random: (below: number) => number): EventRow[] {
  const rows: EventRow[] = [];
  const tell = (turn: number, event: JournalEvent): void => {
    rows.push({ seq: rows.length + 1, turn_id: `turn_${turn}`, thread_id: 'root', at_ms: 1, event });
  };
  for (let turn = 0; turn < 1 + random(6); turn += 1) {
    tell(turn, { kind: 'user_message', item_id: 'i', text: `question ${turn}`, principal: 'operator' });
    const late: string[] = [];
    for (let round = 0; round < random(6); round += 1) {
      const ids = Array.from({ length: 1 + random(5) }, (_, index) => `call_${turn}_${round}_${index}`);
      const calls = ids.map((id) => ({ call_id: id, name: 'read_file', arguments: { path: id } }));
      tell(turn, {
        kind: 'assistant_message',
        item_id: 'i',
        round,
        text: '',
        calls,
        stop: 'tool_calls',
        model: 'm',
      });
      if (random(2) === 0) ids.reverse();
      const now = [...late.splice(0), ...ids];
      // A result that was written after the next answer, as a crash may leave it.
      if (random(6) === 0) late.push(...now.splice(-1));
      for (const id of now) {
        if (random(4) === 0) tell(turn, { kind: 'note', text: 'a remark' });
        tell(turn, resultOf(id, `of ${id} ${'x'.repeat(random(400))}`));
      }
    }
    for (const id of late) tell(turn, resultOf(id, 'late'));
    if (random(4) > 0)
      tell(turn, {
        kind: 'assistant_message',
        item_id: 'i',
        round: 9,
        text: `answer ${turn}`,
        calls: [],
        stop: 'end',
        model: 'm',
      });
  }
  return rows;
}

const MISSING = 'interrupted, effect unknown';

t.test('wherever a conversation is cut, calls keep their results and a person comes first', async () => {
  const random = randomOf(3);
  let folded = 0;
  for (let time = 0; time < 1_500; time += 1) {
    const rows = anyThread(random);
    const current = random(2) === 0 ? (rows.at(-1)?.turn_id ?? null) : null;
    const barred = `turn_${random(8)}`;
    const plan = planCompaction({
      rows,
      currentTurnId: current,
      keepLast: 1 + random(14),
      keepTokens: 1 + random(900),
      mayFoldThrough: (turnId) => turnId !== barred,
    });
    if (plan === null) continue;
    folded += 1;
    assert.deepEqual([...plan.fold, ...plan.keep], rows, 'nothing is lost, and the order stays');
    assert.notEqual(plan.through.turnId, barred);
    const made = new Set(
      plan.keep.flatMap(({ event }) =>
        event.kind === 'assistant_message' ? event.calls.map(({ call_id }) => call_id) : [],
      ),
    );
    for (const { event } of plan.keep)
      if (event.kind === 'tool_result') assert.ok(made.has(event.call_id), 'a result stays with its call');
    const summary = withFacts(EMPTY_SUMMARY, plan.fold, null);
    // As the store gives them: behind the cut, and before them the first event of the turn that the cut divides.
    const request = plan.fold.find((row) => row.turn_id === plan.through.turnId);
    const shown = request === undefined ? plan.keep : [request, ...plan.keep];
    const messages = threadSlice({
      rows: shown,
      summary,
      cutSeq: plan.through.seq,
      turnId: current,
      plan: null,
      waiting: [],
      roomTokens: Number.POSITIVE_INFINITY,
      fit: true,
      handles: new Map(),
    });
    assert.deepEqual(brokenHistory(messages), [], JSON.stringify(messages));
    assert.ok(!JSON.stringify(messages).includes(MISSING), 'no call is without its own result');
    const first = messages.find(({ role }) => role !== 'system' && role !== 'note');
    assert.ok(first === undefined || first.role === 'user');
    assert.ok(!JSON.stringify(messages).includes('beginning of this conversation is not shown'));
    if (current !== null && first !== undefined)
      assert.ok(
        JSON.stringify(messages).includes(`question ${current.slice(5)}`),
        'the request of the turn at work is shown',
      );
  }
  assert.ok(folded > 500, `${folded} were cut`);
});

t.test('what stays is bounded by size as well as by number, but for what the model has not seen', (t) => {
  const rows = anyThread(randomOf(11));
  const turn = rows.at(-1)?.turn_id ?? null;
  const every = { rows, keepLast: 1_000, mayFoldThrough: () => true };
  t.equal(planCompaction({ ...every, currentTurnId: null, keepTokens: 1e9 }), null, 'all of it may stay');
  const none = planCompaction({ ...every, currentTurnId: null, keepTokens: 1 });
  t.equal(none?.keep.length, 0, 'between turns even the last message may go');
  const unseen = planCompaction({ ...every, currentTurnId: turn, keepTokens: 1 });
  t.ok((unseen?.keep.length ?? 0) > 0, 'within a turn its newest part stays');
  t.end();
});

t.test('a history that is too large is made to fit by its largest messages, and keeps its pairs', (t) => {
  const call = (id: string) => ({ call_id: id, name: 'fetch', arguments: { url: `http://x/${id}` } });
  const ids = Array.from({ length: 40 }, (_, index) => `call_${index}`);
  const history: Message[] = [
    { role: 'user', text: `begin ${'m'.repeat(3_000_000)} end` },
    { role: 'assistant', text: 'I look', calls: ids.map(call) },
    ...ids.map(
      (id): Message => ({
        role: 'tool',
        call_id: id,
        name: 'fetch',
        content: { body: `${id} ${'{"a":1},'.repeat(12_500)}`, artifact_id: `artifact_${id}` },
        is_error: false,
      }),
    ),
    { role: 'user', text: 'short' },
  ];
  const [long] = history;
  if (long === undefined) throw new Error('there is one');
  const handles = new Map([[long, 'artifact_message']]);
  const fitted = fitHistory(history, 20_000, handles);
  t.ok(estimateMessages(fitted) <= 20_000, `${estimateMessages(fitted)} tokens`);
  t.same(brokenHistory(repairHistory(fitted)), []);
  t.equal(fitted.length, history.length);
  const text = fitted[0]?.role === 'user' ? fitted[0].text : '';
  t.match(text, /^begin m/);
  t.match(text, /m end$/);
  t.match(text, /characters are left out here; artifact artifact_message holds all of it/);
  t.match(JSON.stringify(fitted[2]), /call_0 .*"artifact_id":"artifact_call_0"/s, 'and the handle stays');
  t.same(fitted.at(-1), { role: 'user', text: 'short' }, 'small ones are as they were');
  t.same(fitHistory(fitted, 20_000), fitted, 'what fits is left alone');
  t.end();
});

t.test('a large call of the model is shortened in its arguments only', (t) => {
  const big = { path: 'a.txt', content: 'line\n'.repeat(50_000) };
  const written: Message = {
    role: 'assistant',
    text: 'I write it',
    calls: [{ call_id: 'call_1', name: 'write_file', arguments: big }],
  };
  const [short] = fitHistory([written], 1_000);
  t.match(short, { text: 'I write it', calls: [{ call_id: 'call_1', arguments: { path: 'a.txt' } }] });
  t.ok(short !== undefined && estimateMessage(short) <= 1_000);
  t.equal(shortText('👩‍👩‍👧'.repeat(50), 41, undefined).isWellFormed(), true, 'no half characters at a seam');
  t.end();
});

t.test('room is left whatever the window, the reserve and the prompt are', (t) => {
  const usual = { window: 100_000, compactAt: 0.7, answerTokens: 4_096, fixedTokens: 5_000, ratio: 1 };
  t.same(roomOf(usual), { messages: 65_000, request: 70_000 });
  t.equal(roomOf({ ...usual, ratio: 2 }).messages, 30_066, 'our estimate is half of what the model counts');
  const reserve = roomOf({ ...usual, window: 8_000, answerTokens: 16_000, fixedTokens: 100 });
  t.equal(reserve.messages, 3_900, 'an answer never takes more than half of the window');
  const prompt = roomOf({ ...usual, fixedTokens: 95_000 });
  t.equal(prompt.messages, 632, 'a prompt that fills nearly all leaves a share of the rest');
  t.ok(roomOf({ ...usual, fixedTokens: 200_000 }).messages > 0);
  t.equal(windowByName('anthropic/claude-opus-5-5'), 200_000);
  t.equal(windowByName('gemini-3-pro'), 1_000_000);
  t.equal(windowByName('gpt-4.1-mini'), 1_000_000);
  t.equal(windowByName('qwen3:8b'), 128_000);
  t.end();
});

t.test('estimates follow what providers count, slowly and within reason', (t) => {
  const first = learn(UNCALIBRATED, 1_000, 1_400);
  t.match(first, { ratio: 1.4, samples: 1 });
  const second = learn(first, 1_000, 2_400);
  t.ok(second.ratio > 1.59 && second.ratio < 1.61, 'one odd text does not turn it over');
  t.equal(learn(first, 1_000, 0), first, 'a provider that counts nothing teaches nothing');
  t.equal(learn(first, 3, 900), first, 'nor does a tiny request');
  t.equal(learn(UNCALIBRATED, 1_000, 1e9).ratio, 3);
  t.equal(learn(UNCALIBRATED, 1_000, 1).ratio, 0.5);
  const limited = learnTooLong(first, 30_000.7);
  t.equal(limited.too_long_tokens, 30_000);
  t.equal(learnTooLong(limited, 50_000).too_long_tokens, 30_000, 'the smaller one counts');
  t.equal(learn(limited, 10_000, 20_000).too_long_tokens, 30_000);
  t.equal(learn(limited, 20_000, 30_001).too_long_tokens, null, 'a longer one that went through lifts it');
  t.end();
});
