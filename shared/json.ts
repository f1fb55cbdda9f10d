// JSON as a type and as a schema. Everything that crosses a process line or enters the journal is JSON.
import * as v from 'valibot';

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Trusts the decoder (msgpack, JSON.parse) to have produced plain data; only the top-level kind is checked. */
export const jsonValue = v.custom<JsonValue>(
  (input) => input !== undefined && typeof input !== 'function',
  'Expected JSON',
);

export const jsonObject = v.custom<JsonObject>(
  (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
  'Expected a JSON object',
);

/** Canonical text of a JSON value: keys sorted, no spaces. Equal values give equal text, in both processes. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.keys(value)
    .sort()
    .filter((key) => value[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`);
  return `{${fields.join(',')}}`;
}
