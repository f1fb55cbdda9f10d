// plan.create, .get, .update, .clear. The plan is one document; an update is worked out on a copy and stored whole.
import type * as v from 'valibot';
import type { JsonObject } from '../../shared/json.js';
import {
  noArguments,
  PLAN_ITEMS_MAX,
  PLAN_STATUSES,
  planCreateParams,
  planUpdateParams,
} from '../../shared/tools/plan-tools.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import { stateTool } from './state-tool.js';

type Status = (typeof PLAN_STATUSES)[number];

interface Item {
  readonly id: string;
  title: string;
  status: Status;
  detail?: string;
  note?: string;
}

interface Plan {
  readonly goal: string;
  items: Item[];
  /** Number of the next item; numbers are not used again. */
  next: number;
}

type Update = v.InferOutput<typeof planUpdateParams>;

export const planCreate = stateTool(planCreateParams, (args, { store, threadId, nowMs }) => {
  const plan: Plan = { goal: args.goal, items: [], next: 1 };
  for (const entry of args.items) {
    const { title, detail, status } = typeof entry === 'string' ? { title: entry } : entry;
    plan.items.push(newItem(plan, title, detail, status));
  }
  const replaced = store.plans.get(threadId) !== undefined;
  store.plans.set(threadId, plan as unknown as JsonObject, nowMs);
  return planResult(plan, { replaced });
});

export const planGet = stateTool(noArguments, (_args, { store, threadId }) => {
  const plan = store.plans.get(threadId) as Plan | undefined;
  return plan === undefined ? { content: { plan: null }, is_error: false } : planResult(plan);
});

export const planUpdate = stateTool(planUpdateParams, (args, { store, threadId, nowMs }) => {
  const plan = store.plans.get(threadId) as Plan | undefined;
  if (plan === undefined) return toolError('there is no plan; write one with plan.create');
  const problem = applyUpdate(plan, args);
  if (problem !== null)
    return toolError(problem, { items: plan.items.map(({ id, title }) => ({ id, title })) });
  store.plans.set(threadId, plan as unknown as JsonObject, nowMs);
  return planResult(plan);
});

export const planClear = stateTool(noArguments, (_args, { store, threadId }) => ({
  content: { ok: true, found: store.plans.clear(threadId) },
  is_error: false,
}));

/** Changes the plan in place; the words of the first thing that cannot be done, else null. */
function applyUpdate(plan: Plan, update: Update): string | null {
  const { item, status, note, title, detail, insert, reorder } = update;
  const changes = { status, note, title, detail };
  const named = Object.values(changes).some((value) => value !== undefined);
  if (!named && insert === undefined && reorder === undefined)
    return 'nothing to change: give status, note, title or detail of an item, insert, or reorder';
  if (named && item === undefined) return 'name the item to change (its id or exact title)';
  return (
    (item === undefined ? null : changeItem(plan, item, changes)) ??
    (insert === undefined ? null : insertItem(plan, insert)) ??
    (reorder === undefined ? null : reorderItems(plan, reorder))
  );
}

function changeItem(
  plan: Plan,
  name: string,
  changes: Pick<Update, 'status' | 'note' | 'title' | 'detail'>,
): string | null {
  const item = find(plan, name);
  if (typeof item === 'string') return item;
  for (const [key, value] of Object.entries(changes))
    if (value !== undefined) Object.assign(item, { [key]: value });
  return null;
}

function insertItem(plan: Plan, insert: NonNullable<Update['insert']>): string | null {
  if (plan.items.length >= PLAN_ITEMS_MAX)
    return `a plan has at most ${PLAN_ITEMS_MAX} items; put several steps into one, or finish and start a new plan`;
  let place = plan.items.length;
  if (insert.after !== undefined) {
    const before = find(plan, insert.after);
    if (typeof before === 'string') return before;
    place = plan.items.indexOf(before) + 1;
  }
  plan.items.splice(place, 0, newItem(plan, insert.title, insert.detail));
  return null;
}

function reorderItems(plan: Plan, names: readonly string[]): string | null {
  const first: Item[] = [];
  for (const name of names) {
    const item = find(plan, name);
    if (typeof item === 'string') return item;
    if (first.includes(item)) return `${name} is named twice in reorder`;
    first.push(item);
  }
  plan.items = [...first, ...plan.items.filter((item) => !first.includes(item))];
  return null;
}

function newItem(plan: Plan, title: string, detail?: string, status: Status = 'pending'): Item {
  const id = `item_${plan.next}`;
  plan.next += 1;
  return { id, title, status, ...(detail === undefined ? {} : { detail }) };
}

function find(plan: Plan, name: string): Item | string {
  const byId = plan.items.find((item) => item.id === name);
  if (byId !== undefined) return byId;
  const [found, other] = plan.items.filter((item) => item.title === name);
  if (found === undefined) return `there is no item ${name}`;
  return other === undefined ? found : `several items have the title ${name}; use the id`;
}

function planResult(plan: Plan, more: JsonObject = {}): ToolResult {
  const progress: JsonObject = { total: plan.items.length };
  for (const status of PLAN_STATUSES)
    progress[status] = plan.items.filter((item) => item.status === status).length;
  const items = plan.items.map((item) => ({ ...item }) as JsonObject);
  return { content: { plan: { goal: plan.goal, items }, progress, ...more }, is_error: false };
}
