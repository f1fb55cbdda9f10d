// Hides quoted parts of a request behind placeholders while its words are matched, and brings them back afterwards,
// with their quotes (for shell commands) or without (for names and texts).

export interface Quoted {
  /** The request with each quoted part replaced by one placeholder without spaces. */
  readonly masked: string;
  /** As it was written, quotes included. */
  raw(masked: string): string;
  /** Without the quotes. */
  plain(masked: string): string;
}

/** Noncharacters: no text holds them, and no pattern of the parser matches them as letters. */
const OPEN = '\uFDD0';
const CLOSE = '\uFDD1';
export const PLACEHOLDER = `${OPEN}\\d+${CLOSE}`;
const EACH_PLACEHOLDER = new RegExp(`${OPEN}(\\d+)${CLOSE}`, 'g');

/** A fence, backticks, double quotes of three kinds, single quotes that are no apostrophe. */
const QUOTES =
  /```[^\S\n]*[\w+-]*\n([\s\S]*?)\n?```|`([^`\n]+)`|"([^"]*)"|“([^“”]*)”|«([^«»]*)»|(?<![\w'])'([^'\n]*)'(?!\w)/g;

export function hideQuotes(text: string): Quoted {
  const parts: { raw: string; plain: string }[] = [];
  const clean = text.replaceAll(OPEN, ' ').replaceAll(CLOSE, ' ');
  const masked = clean.replace(QUOTES, (raw: string, ...groups: (string | undefined | number)[]) => {
    const inner = groups.slice(0, 6).find((group) => typeof group === 'string');
    parts.push({ raw, plain: typeof inner === 'string' ? inner : raw });
    return `${OPEN}${parts.length - 1}${CLOSE}`;
  });
  const restore = (input: string, side: 'raw' | 'plain'): string =>
    input.replace(EACH_PLACEHOLDER, (whole, index) => parts[Number(index)]?.[side] ?? whole);
  return { masked, raw: (input) => restore(input, 'raw'), plain: (input) => restore(input, 'plain') };
}
