// Folds events into a summary: what a model said about them, and what is taken from the journal word for word. Pure.
// Everything is bounded, so a summary never grows into what it was made to replace.
import * as v from 'valibot';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { shortText } from '../../shared/transcript/fit.js';
import type { FoldedRequest, SummaryBlock } from '../../shared/transcript/summary.js';
import type { EventRow } from '../store/rows.js';
import { doneEffects } from './done-effects.js';

const LIST_MAX = 32;
const ENTRY_CHARS = 500;
const NARRATIVE_CHARS = 16_000;
const REQUEST_CHARS = 16_000;
const REQUESTS_CHARS = 32_000;
const EFFECTS_MAX = 200;
const DEGRADED_CHARS = 8_000;
/** Of a degraded narrative, what is kept of its beginning. */
const DEGRADED_HEAD = 2_000;

const list = v.array(v.string());
const verdictShape = v.object({
  goals: list,
  decisions: list,
  open: list,
  facts: list,
  narrative: v.string(),
});
export type Verdict = v.InferOutput<typeof verdictShape>;

/** Null when a model's answer is not a summary. */
export function verdictOf(value: JsonValue): Verdict | null {
  const parsed = v.safeParse(verdictShape, value);
  return parsed.success ? parsed.output : null;
}

/** Takes over what a model says. What is open is what it says last; the other lists only grow, up to their bound. */
export function withVerdict(summary: SummaryBlock, verdict: Verdict): SummaryBlock {
  return {
    ...summary,
    goals: merged(summary.goals, verdict.goals),
    decisions: merged(summary.decisions, verdict.decisions),
    open: merged([], verdict.open),
    facts: merged(summary.facts, verdict.facts),
    narrative: shortText(verdict.narrative, NARRATIVE_CHARS, undefined),
    degraded: false,
  };
}

/** Nobody summarised these lines: their beginning and their end stand for them. */
export function withoutVerdict(summary: SummaryBlock, lines: readonly string[]): SummaryBlock {
  const whole = [summary.narrative, ...lines].filter((part) => part !== '').join('\n');
  if (whole.length <= DEGRADED_CHARS) return { ...summary, narrative: whole, degraded: true };
  const tail = whole.slice(DEGRADED_HEAD - DEGRADED_CHARS);
  const narrative = `${whole.slice(0, DEGRADED_HEAD)}\n[…]\n${tail}`.toWellFormed();
  return { ...summary, narrative, degraded: true };
}

/** Adds what is carried word for word. */
export function withFacts(
  summary: SummaryBlock,
  fold: readonly EventRow[],
  plan: JsonObject | null,
): SummaryBlock {
  const requests = boundedRequests([...summary.requests, ...requestsOf(fold)]);
  const effects = [...summary.effects, ...doneEffects(fold)];
  return {
    ...summary,
    through_turn: fold.at(-1)?.turn_id ?? summary.through_turn,
    requests: requests.kept,
    requests_left_out: summary.requests_left_out + requests.dropped,
    effects: effects.slice(-EFFECTS_MAX),
    effects_left_out: summary.effects_left_out + Math.max(0, effects.length - EFFECTS_MAX),
    plan,
    compactions: summary.compactions + 1,
  };
}

function requestsOf(fold: readonly EventRow[]): FoldedRequest[] {
  return fold.flatMap(({ turn_id, event }) =>
    event.kind === 'user_message'
      ? [{ turn_id, from: event.principal, text: shortText(event.text, REQUEST_CHARS, undefined) }]
      : [],
  );
}

/** The first always stays; of the others the newest. */
function boundedRequests(requests: readonly FoldedRequest[]): { kept: FoldedRequest[]; dropped: number } {
  const [first, ...others] = requests;
  if (first === undefined) return { kept: [], dropped: 0 };
  let left = REQUESTS_CHARS - first.text.length;
  const newest: FoldedRequest[] = [];
  for (const request of others.toReversed()) {
    left -= request.text.length;
    if (left < 0) break;
    newest.unshift(request);
  }
  return { kept: [first, ...newest], dropped: others.length - newest.length };
}

function merged(before: readonly string[], after: readonly string[]): string[] {
  const known = new Map<string, string>();
  for (const entry of [...before, ...after]) {
    const text = shortText(entry.trim(), ENTRY_CHARS, undefined);
    const key = text.toLowerCase().replaceAll(/\s+/g, ' ');
    if (key !== '') known.set(key, known.get(key) ?? text);
  }
  return [...known.values()].slice(-LIST_MAX);
}
