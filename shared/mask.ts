// Takes known secret values out of text and JSON before they reach the journal, a log, the wire or a model.

import type { JsonValue } from './json.js';

/** Shorter values would mask ordinary words. */
const SHORTEST = 6;
const MASK = '***';

export interface Masker {
  text(text: string): string;
  json<T extends JsonValue>(value: T): T;
}

/** Knows each value as it is, and as it looks inside JSON and URLs. */
export function makeMasker(values: readonly string[]): Masker {
  const known = new Set<string>();
  for (const value of values) {
    if (value.length < SHORTEST) continue;
    known.add(value);
    known.add(JSON.stringify(value).slice(1, -1));
    known.add(encodeURIComponent(value));
  }
  // Longest first, so that a value that holds another one disappears whole.
  const needles = [...known].sort((left, right) => right.length - left.length);
  const text = (input: string): string => {
    let output = input;
    for (const needle of needles) if (output.includes(needle)) output = output.replaceAll(needle, MASK);
    return output;
  };
  const json = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), json(inner)]));
  };
  if (needles.length === 0) return { text: (input) => input, json: (value) => value };
  return { text, json: json as Masker['json'] };
}
