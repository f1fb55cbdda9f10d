// Small pieces of text that the answers share: sizes, counts, lists, untrusted text made safe for a terminal.

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** `812 bytes`, `1.4 KB`, `23 MB`; steps of 1000. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** `1 file`, `1,204 files`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `a`, `a and b`, `a, b and c`. */
export function joined(parts: readonly string[]): string {
  if (parts.length < 2) return parts[0] ?? '';
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** Names and lines come from strangers: control and direction characters become visible, and length is bounded. */
export function oneLine(text: string, longest = 200): string {
  const clean = text.replace(UNSAFE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
  const chars = [...clean];
  return chars.length > longest ? `${chars.slice(0, longest - 1).join('')}…` : clean;
}

const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A block of somebody's text: line breaks and tabs stay, other control characters become visible. */
export function block(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) =>
      line
        .split('\t')
        .map((part) => oneLine(part, 2_000))
        .join('\t'),
    )
    .join('\n');
}

/** Text between fences that it cannot close. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n+$/, '')}\n${fence}`;
}

/** Its lines, each cut to a length that patterns can be tried on, whatever the text is. */
export function shortLines(text: string, longest = 1_000): string[] {
  return text.split('\n').map((line) => (line.length > longest ? line.slice(0, longest) : line));
}

/** The first part of a text and whether that is all of it; never half a line unless one line is longer than the bound. */
export function head(text: string, most: number): { readonly text: string; readonly whole: boolean } {
  if (text.length <= most) return { text, whole: true };
  const cut = text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
  const line = cut.lastIndexOf('\n');
  return { text: line > most / 2 ? cut.slice(0, line) : cut, whole: false };
}
