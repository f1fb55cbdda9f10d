// Text on its way in and out of a dialect: characters stay whole, tool names fit, bodies are well-formed.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { PlannedTool } from '../../shared/tools/tool-plan.js';
import { mapJsonText, sendableText } from '../../shared/transcript/unicode.js';
import type { Usage } from '../../shared/transcript/usage.js';

function endsInHalf(text: string): boolean {
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Joins deltas; a character that was cut between two of them is held back until its other half is there. */
export class TextJoin {
  #text = '';
  #held = '';

  get text(): string {
    return this.#text;
  }

  /** What may be shown now; empty when nothing is. */
  push(delta: string): string {
    let piece = this.#held + delta;
    this.#held = '';
    if (endsInHalf(piece)) {
      this.#held = piece.slice(-1);
      piece = piece.slice(0, -1);
    }
    return this.#add(piece);
  }

  /** The rest, once no more can come. */
  end(): string {
    const piece = this.#held;
    this.#held = '';
    return this.#add(piece);
  }

  #add(piece: string): string {
    const clean = sendableText(piece);
    this.#text += clean;
    return clean;
  }
}

/** Escapes of a NUL or of half a character; a literal backslash before a `u` matches too and only costs time. */
const SUSPECT = /\\u(?:0000|d[89a-f])/;

/** JSON text that every provider can decode. */
export function bodyText(body: JsonObject): string {
  const text = JSON.stringify(body);
  return SUSPECT.test(text) ? JSON.stringify(mapJsonText(body, sendableText)) : text;
}

/** Finds the wire name of a call in the history, also of a tool that has left the plan since. */
export function wireNames(tools: readonly PlannedTool[]): (name: string) => string {
  const planned = new Map(tools.map((tool) => [tool.name, tool.wire_name]));
  return (name) => planned.get(name) ?? (name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'tool');
}

/** The text of a tool result; never empty, because an empty one is refused or dropped by several providers. */
export function resultText(content: JsonValue): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return text.trim() === '' ? '(no output)' : text;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The event's payload as an object; null when it is not one. */
export function payload(data: string): JsonObject | null {
  try {
    const value = JSON.parse(data) as JsonValue;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A count of tokens, or null for anything else: missing, negative, a fraction, words. Some servers write digits as text. */
export function tokenCount(value: JsonValue | undefined): number | null {
  if (typeof value === 'string') return /^\d{1,15}$/.test(value) ? Number(value) : null;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
}

interface Counted {
  /** All input, cached included; null when the provider did not say. */
  readonly input: number | null;
  readonly output: number | null;
  readonly cached: number;
  /** The part of the input that was written to the cache. */
  readonly written?: number;
}

/** Numbers of a call, or null when they say nothing: no request has an empty input, so two zeros are no count. */
export function usageFrom({ input, output, cached, written = 0 }: Counted): Usage | null {
  if (input === null || output === null || input + output === 0) return null;
  return {
    input_tokens: input,
    output_tokens: output,
    cached_tokens: Math.min(cached, input),
    ...(written === 0 ? {} : { written_tokens: written }),
    estimated: false,
  };
}

/** Provider ids of calls may be missing or repeated; ours must tell the calls of one answer apart. */
export function distinctIds(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  return ids.map((id, index) => {
    const base = id === '' ? `call_${index}` : id;
    const distinct = seen.has(base) ? `${base}_${index}` : base;
    seen.add(distinct);
    return distinct;
  });
}
