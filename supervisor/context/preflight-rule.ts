// Is a message worth a look before the turn? Pure.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { isObject } from './decision.js';

export type PreflightMode = 'auto' | 'always' | 'never';

const LONG = 280;

/** Words of work, in their usual forms. */
const WORK =
  /\b(?:implement|build|creat|fix|deploy|investigat|writ|run|analy[sz]|refactor|migrat|plan|set(?:ting)?[ -]?up|configur|generat|review|compar|research|schedul|start)(?:e|es|s|ning|ing)?\b/i;

export function isWorthPreflight(
  mode: PreflightMode,
  text: string,
  plan: () => JsonObject | undefined,
): boolean {
  if (mode !== 'auto') return mode === 'always';
  return text.length > LONG || WORK.test(text) || unfinishedGoal(plan()) !== null;
}

/** The goal of a plan with something left to do; null where there is none. */
export function unfinishedGoal(plan: JsonObject | undefined): string | null {
  const items: JsonValue | undefined = plan?.items;
  if (!Array.isArray(items)) return null;
  const left = items.some((item) => isObject(item) && LEFT.has(String(item.status)));
  return left ? String(plan?.goal) : null;
}

const LEFT = new Set(['pending', 'in_progress']);
