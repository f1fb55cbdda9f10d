// What the rules of all dialects look at: names, lists, blank and broken text, and pairs of calls and results.
import type { JsonObject, JsonValue } from '../../shared/json.js';

export const WIRE_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CALL_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Matches half of a surrogate pair only. */
const LONE_SURROGATE = /\p{Surrogate}/u;

export function object(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

export function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(object) : [];
}

export function blank(value: JsonValue | undefined): boolean {
  return typeof value !== 'string' || value.trim() === '';
}

export function isObjectText(value: JsonValue | undefined): boolean {
  try {
    const parsed: unknown = JSON.parse(String(value));
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

export function brokenText(value: JsonValue): boolean {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) || value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => brokenText(key) || brokenText(inner));
}

/** Calls and results must pair up one to one, the results right after the message that made the calls. */
export function pairing(groups: readonly { calls: string[]; results: string[] }[]): string[] {
  const broken: string[] = [];
  const seen = new Set<string>();
  for (const { calls, results } of groups) {
    for (const id of calls) {
      if (!CALL_ID.test(id) || seen.has(id))
        broken.push(`call id ${JSON.stringify(id)} is empty, used twice or not of the allowed characters`);
      seen.add(id);
      const count = results.filter((each) => each === id).length;
      if (count !== 1) broken.push(`call ${id} has ${count} results right after it`);
    }
    for (const id of results) if (!calls.includes(id)) broken.push(`result ${id} has no call before it`);
  }
  return broken;
}
