// A search pattern as a regular expression, and what every match of it contains where that is easy to tell.
import { ToolFailure } from '../files/tool-failure.js';

export interface SearchPattern {
  readonly regex: RegExp;
  readonly literal: string | null;
}

/** Throws a ToolFailure for a pattern that is none. */
export function parsePattern(text: string, ignoreCase: boolean): SearchPattern {
  const inline = text.startsWith('(?i)');
  const source = inline ? text.slice(4) : text;
  const caseFlag = inline || ignoreCase ? 'i' : '';
  const literal = caseFlag === '' ? literalOf(source) : null;
  try {
    return { regex: new RegExp(source, `u${caseFlag}`), literal };
  } catch {
    // Without the u flag needless escapes such as \- are allowed, and many write them.
  }
  try {
    return { regex: new RegExp(source, caseFlag), literal };
  } catch (error) {
    const why =
      error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : 'unknown';
    throw new ToolFailure(
      `The pattern is no JavaScript regular expression: ${why}. Put \\ before signs that are meant as they are.`,
    );
  }
}

/** The text that a pattern without any operator stands for. */
function literalOf(source: string): string | null {
  const plain = source.replace(/\\([^\w\s])/g, '');
  if (/[\\^$.*+?()[\]{}|]/.test(plain)) return null;
  return source.replace(/\\([^\w\s])/g, '$1');
}
