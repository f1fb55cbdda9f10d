// Careful access to the content of tool results: what is not there, or is of another kind, is null, never an exception.
import type { JsonObject, JsonValue } from '../../../shared/json.js';
import { oneLine } from './wording.js';

export function objectIn(content: JsonValue | undefined): JsonObject {
  return typeof content === 'object' && content !== null && !Array.isArray(content) ? content : {};
}

export function textIn(content: JsonValue | undefined, key: string): string | null {
  const value = objectIn(content)[key];
  return typeof value === 'string' ? value : null;
}

export function numberIn(content: JsonValue | undefined, key: string): number | null {
  const value = objectIn(content)[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function flagIn(content: JsonValue | undefined, key: string): boolean {
  return objectIn(content)[key] === true;
}

export function listIn(content: JsonValue | undefined, key: string): readonly JsonValue[] {
  const value = objectIn(content)[key];
  return Array.isArray(value) ? value : [];
}

/** What a tool remarks about its own result, such as what it passed over. */
export function noteOf(content: JsonValue | undefined): string {
  const note = textIn(content, 'note');
  return note === null || note === '' ? '' : `The tool notes: ${oneLine(note, 600)}`;
}
