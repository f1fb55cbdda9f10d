// The plan of a thread: a goal and ordered items, kept by the supervisor so that it outlives turns and compaction.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';

export const PLAN_STATUSES = ['pending', 'in_progress', 'done', 'blocked', 'skipped'] as const;
export const PLAN_ITEMS_MAX = 32;

const title = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
const detail = v.pipe(v.string(), v.maxLength(4000));
const status = v.picklist(PLAN_STATUSES);
/** Names an item: its id, or its exact title. */
const itemName = v.pipe(v.string(), v.minLength(1), v.maxLength(500));

export const planCreateParams = v.strictObject({
  goal: v.pipe(v.string(), v.minLength(1), v.maxLength(2000)),
  items: v.pipe(
    v.array(
      v.union([title, v.strictObject({ title, detail: v.optional(detail), status: v.optional(status) })]),
    ),
    v.minLength(1),
    v.maxLength(PLAN_ITEMS_MAX),
  ),
});

export const planUpdateParams = v.strictObject({
  item: v.optional(v.pipe(itemName, v.description('id or exact title of the item to change'))),
  status: v.optional(status),
  note: v.optional(v.pipe(v.string(), v.maxLength(4000))),
  title: v.optional(title),
  detail: v.optional(detail),
  insert: v.optional(
    v.strictObject({
      title,
      detail: v.optional(detail),
      after: v.optional(v.pipe(itemName, v.description('id or title; absent: at the end'))),
    }),
  ),
  reorder: v.optional(
    v.pipe(
      v.array(itemName),
      v.minLength(1),
      v.maxLength(PLAN_ITEMS_MAX),
      v.description('ids or titles in their new order; items that are not named follow in their old order'),
    ),
  ),
});

export const noArguments = v.strictObject({});

export const PLAN_TOOLS: readonly ToolSpec[] = [
  {
    name: 'plan.create',
    description:
      `Writes down the plan of this conversation: a goal and 1 to ${PLAN_ITEMS_MAX} ordered items (a title each, or title and detail). ` +
      'Replaces an existing plan. Returns the plan with the id of each item, and the progress. ' +
      'Use it for work of several steps, and keep it up to date with plan.update.',
    params: planCreateParams,
    action: 'state',
    runs: 'supervisor',
    readOnly: false,
  },
  {
    name: 'plan.get',
    description: 'Returns the plan of this conversation and its progress; plan is null when there is none.',
    params: noArguments,
    action: 'state',
    runs: 'supervisor',
    readOnly: true,
  },
  {
    name: 'plan.update',
    description:
      `Changes the plan: name an item and give its new status (${PLAN_STATUSES.join(', ')}), note, title or detail; ` +
      'insert one item; reorder items. Several of these in one call are done together or not at all. ' +
      'Returns the plan and its progress.',
    params: planUpdateParams,
    action: 'state',
    runs: 'supervisor',
    readOnly: false,
  },
  {
    name: 'plan.clear',
    description: 'Removes the plan of this conversation. Returns whether there was one.',
    params: noArguments,
    action: 'state',
    runs: 'supervisor',
    readOnly: false,
  },
];
