// The two shapes that most answers have.
import type { Told } from './plan.js';

/** A step that gave nothing, with the reason. */
export function failed(text: string): Told {
  return { text, result: null };
}

/** Paragraphs; empty ones are left out. */
export function joinText(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
