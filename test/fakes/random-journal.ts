// Journals as crashes, races, older versions and hostile models may leave them: whole turns of a thread, every kind of
// event, results that are late, doubled, missing or of another turn, and windows in between.
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonValue } from '../../shared/json.js';
import { TURN_STATUSES } from '../../shared/outcome.js';
import type { ToolCall } from '../../shared/transcript/message.js';
import { EMPTY_SUMMARY, type SummaryBlock } from '../../shared/transcript/summary.js';
import type { SliceRow } from '../../shared/transcript/thread-slice.js';
import { type Chance, oneOf } from './seeded.js';

const GIANT = 'x'.repeat(8_000);
const TEXTS = [
  '',
  ' ',
  '\n\t',
  'text',
  'é😀',
  '\ud83d',
  'a\udc00b',
  'nul\0',
  '👩‍👩‍👧',
  '</request>',
  '{"a":1}',
  GIANT,
];
const IDS = ['call_1', 'call_2', 'call_3', '', 'call r!', 'call_r1', 'ü', 'x'.repeat(65), 'toolu_01AbC'];
const NAMES = ['read_file', 'plan.get', 'gone.tool', '', 'ümlaut tool', 'n'.repeat(80), 'a\ud83d'];
const ENDS = ['done', 'denied', 'interrupted', 'not_started', 'invalid'] as const;
const WINDOWS = ['answered', 'runtime_shutdown_continuation', 'resumed'] as const;
const PURPOSES = ['preflight', 'compaction', 'think', 'decide'] as const;

export interface RandomThread {
  readonly rows: readonly SliceRow[];
  /** The turn at work, whose message is the last one that was accepted. */
  readonly turnId: string;
  readonly summary: SummaryBlock | null;
  readonly cutSeq: number;
}

export function randomThread(chance: Chance): RandomThread {
  const rows: SliceRow[] = [];
  const turns = 1 + chance(5);
  for (let turn = 1; turn <= turns; turn += 1) {
    const last = turn === turns;
    const events = [asked(chance), ...happened(chance, last && chance(2) === 0 ? 0 : 2 + chance(12))];
    if (!last) events.push(ended(chance));
    for (const event of events) rows.push({ seq: rows.length + 1, turn_id: `turn_${turn}`, event });
  }
  // The beginning of a thread may be gone.
  if (turns > 1 && chance(4) === 0) rows.shift();
  const cut = rows[chance(rows.length)];
  const folded = chance(3) === 0 && cut !== undefined;
  return {
    rows,
    turnId: `turn_${turns}`,
    summary: folded ? summaryUpTo(chance, cut) : null,
    cutSeq: folded ? cut.seq : 0,
  };
}

function asked(chance: Chance): JournalEvent {
  return { kind: 'user_message', item_id: 'item', text: oneOf(chance, TEXTS), principal: 'operator' };
}

function ended(chance: Chance): JournalEvent {
  const error = chance(2) === 0 ? {} : { error: { code: 'failed', message: oneOf(chance, TEXTS) } };
  return { kind: 'turn_ended', status: oneOf(chance, TURN_STATUSES), reply: oneOf(chance, TEXTS), ...error };
}

function happened(chance: Chance, count: number): JournalEvent[] {
  return Array.from({ length: count }, (_, index): JournalEvent => {
    switch (chance(9)) {
      case 0:
        return { kind: 'note', text: oneOf(chance, TEXTS) };
      case 1:
        return { kind: 'window_opened', window: 1 + chance(4), reason: oneOf(chance, WINDOWS) };
      case 2:
        return charged(chance, index);
      case 3:
        return intended(chance, index);
      case 4:
      case 5:
        return answered(chance, index);
      default:
        return resulted(chance);
    }
  });
}

function charged(chance: Chance, index: number): JournalEvent {
  const usage = { input_tokens: chance(9), output_tokens: chance(9), cached_tokens: 0, estimated: true };
  const purpose = chance(2) === 0 ? {} : { purpose: oneOf(chance, PURPOSES) };
  return { kind: 'usage', call_index: index, model: 'm', usage, ...purpose };
}

function intended(chance: Chance, index: number): JournalEvent {
  return {
    kind: 'tool_intent',
    call_id: oneOf(chance, IDS),
    round: 1,
    index,
    tool: oneOf(chance, NAMES),
    arguments: {},
    verdict: chance(2) === 0 ? 'allow' : 'deny',
    reason: oneOf(chance, TEXTS),
    runs: 'worker',
  };
}

function answered(chance: Chance, round: number): JournalEvent {
  const calls = Array.from({ length: chance(5) }, () => ({
    call_id: oneOf(chance, IDS),
    name: oneOf(chance, NAMES),
    arguments: oneOf<unknown>(chance, [
      {},
      { path: oneOf(chance, TEXTS), [oneOf(chance, TEXTS)]: [oneOf(chance, TEXTS)] },
      null,
      [],
      'text',
    ]) as ToolCall['arguments'],
  }));
  const text = oneOf(chance, TEXTS);
  return { kind: 'assistant_message', item_id: 'item', round, text, calls, stop: 'end', model: 'm' };
}

function resulted(chance: Chance): JournalEvent {
  return {
    kind: 'tool_result',
    call_id: oneOf(chance, IDS),
    tool: oneOf(chance, NAMES),
    content: oneOf<JsonValue>(chance, [oneOf(chance, TEXTS), null, { out: oneOf(chance, TEXTS) }, [], 0, {}]),
    is_error: chance(2) === 0,
    end: oneOf(chance, ENDS),
    ...(chance(4) === 0 ? { artifact_id: 'artifact_1' } : {}),
    duration_ms: 1,
  };
}

function summaryUpTo(chance: Chance, cut: SliceRow): SummaryBlock {
  const texts = (): string[] => Array.from({ length: chance(3) }, () => oneOf(chance, TEXTS));
  return {
    ...EMPTY_SUMMARY,
    through_turn: cut.turn_id,
    goals: texts(),
    open: texts(),
    facts: texts(),
    narrative: oneOf(chance, TEXTS),
    requests: texts().map((text) => ({ turn_id: 'turn_1', from: 'operator', text })),
    effects: texts().map((text) => ({ tool: 'exec', arguments: text, end: 'effect unknown' })),
    plan: chance(2) === 0 ? null : { steps: texts() },
    compactions: 1,
    degraded: chance(2) === 0,
  };
}
