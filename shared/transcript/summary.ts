// What stands for the folded part of a thread: what a model wrote about it, and beside that what is never left to a
// model's memory (what the user asked, word for word; which effects are done; the plan as it stood).
import * as v from 'valibot';
import { jsonObject } from '../json.js';

const strings = v.array(v.string());

/** Something that was done to the world and must not be done again. */
const doneEffect = v.object({
  tool: v.string(),
  /** Its arguments as JSON, shortened. */
  arguments: v.string(),
  end: v.picklist(['done', 'failed', 'effect unknown']),
});
export type DoneEffect = v.InferOutput<typeof doneEffect>;

const request = v.object({ turn_id: v.string(), from: v.string(), text: v.string() });
export type FoldedRequest = v.InferOutput<typeof request>;

const summaryBlock = v.object({
  /** The turn in which the folded part ends; with the position of its last event that is the cut. */
  through_turn: v.string(),
  goals: strings,
  decisions: strings,
  open: strings,
  facts: strings,
  narrative: v.string(),
  /** Messages of the user, oldest first; the first of the thread is always among them. */
  requests: v.array(request),
  requests_left_out: v.number(),
  effects: v.array(doneEffect),
  effects_left_out: v.number(),
  /** The plan when the summary was written. */
  plan: v.nullable(jsonObject),
  compactions: v.number(),
  /** No model wrote the last part of it: the narrative is cut from the conversation itself. */
  degraded: v.boolean(),
});
export type SummaryBlock = v.InferOutput<typeof summaryBlock>;

export const EMPTY_SUMMARY: SummaryBlock = {
  through_turn: '',
  goals: [],
  decisions: [],
  open: [],
  facts: [],
  narrative: '',
  requests: [],
  requests_left_out: 0,
  effects: [],
  effects_left_out: 0,
  plan: null,
  compactions: 0,
  degraded: false,
};

/** A stored block as it is; one that a later or a broken version wrote keeps what can be read of it. */
export function readSummary(stored: unknown): SummaryBlock {
  const whole = v.safeParse(summaryBlock, stored);
  if (whole.success) return whole.output;
  const parts = typeof stored === 'object' && stored !== null ? stored : {};
  const readable = Object.entries(summaryBlock.entries).flatMap(([key, schema]) => {
    const value = v.safeParse(schema, (parts as Record<string, unknown>)[key]);
    return value.success ? [[key, value.output]] : [];
  });
  return { ...EMPTY_SUMMARY, ...Object.fromEntries(readable) };
}
