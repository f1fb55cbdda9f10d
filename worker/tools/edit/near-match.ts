// Why a text was not found: the place that comes nearest, and in what it differs. Pure; works on text, not units.
import { cutText } from '../../../shared/transcript/unicode.js';

interface Likeness {
  readonly what: string;
  readonly of: (text: string) => string;
}

/** From the smallest difference to the largest. Each is applied to single lines. */
const LIKENESSES: readonly Likeness[] = [
  { what: 'white space at the ends of lines', of: (line) => line.trimEnd() },
  { what: 'the indentation', of: (line) => line.trim() },
  { what: 'the white space', of: (line) => line.replace(/\s+/g, ' ').trim() },
  { what: 'the form of quotes, dashes or accented letters', of: plainSigns },
  { what: 'upper and lower case', of: (line) => line.trim().toLowerCase() },
];

/** Larger texts are not compared line by line. */
const COMPARED_MAX = 2 * 1024 * 1024;
const SHOWN_BYTES = 160;

/** One or two sentences for the model. `text` and `wanted` have plain line ends. */
export function whyNotFound(text: string, wanted: string): string {
  if (text.length > COMPARED_MAX || wanted.length > COMPARED_MAX)
    return 'Read the place again and copy it exactly.';
  const unescaped = wanted.replaceAll('\\n', '\n').replaceAll('\\t', '\t').replaceAll('\\"', '"');
  if (unescaped !== wanted && text.includes(unescaped))
    return 'It would be found without one level of escapes: write line ends, tabs and quotes as they are.';
  const unnumbered = wanted.replace(/^ *\d+\t/gm, '');
  if (unnumbered !== wanted && text.includes(unnumbered))
    return 'It would be found without the line numbers at the beginning of its lines.';
  const lines = text.split('\n');
  const wantedLines = wanted.replace(/^\n+|\n+$/g, '').split('\n');
  for (const { what, of } of LIKENESSES) {
    const line = lineOfBlock(lines.map(of), wantedLines.map(of));
    if (line === null) continue;
    const offset = Math.max(
      0,
      wantedLines.findIndex((each, index) => lines[line - 1 + index] !== each),
    );
    const has = quoted(lines[line - 1 + offset] ?? '');
    return `It would begin on line ${line}, but line ${line + offset} differs in ${what}: the file has ${has}.`;
  }
  return nearestLine(lines, wantedLines);
}

function plainSigns(line: string): string {
  return line
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u201b]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Line on which the block begins, counted from 1. */
function lineOfBlock(lines: readonly string[], block: readonly string[]): number | null {
  if (block.every((line) => line === '')) return null;
  const all = `\n${lines.join('\n')}\n`;
  const at = all.indexOf(`\n${block.join('\n')}\n`);
  return at === -1 ? null : all.slice(0, at + 1).split('\n').length - 1;
}

/** Where the first telling line stands, and how far the lines after it agree. */
function nearestLine(lines: readonly string[], wanted: readonly string[]): string {
  const telling = wanted.findIndex((line) => line.trim().length > 3);
  const first = wanted[telling]?.trim();
  if (first === undefined) return 'Read the file again and copy the text exactly.';
  let best = { line: 0, agree: 0 };
  for (const [index, line] of lines.entries()) {
    if (line.trim() !== first) continue;
    let agree = 1;
    while (
      telling + agree < wanted.length &&
      lines[index + agree]?.trim() === wanted[telling + agree]?.trim()
    )
      agree += 1;
    if (agree > best.agree) best = { line: index + 1, agree };
  }
  if (best.agree === 0) return `Its line ${quoted(first)} is not in the file. Read the file again.`;
  const has = lines[best.line - 1 + best.agree];
  const differs = has === undefined ? 'the file ends there' : `the file has ${quoted(has)}`;
  return `Its beginning stands on line ${best.line}, but on line ${best.line + best.agree} ${differs} instead of ${quoted(wanted[telling + best.agree] ?? '')}.`;
}

function quoted(line: string): string {
  const cut = cutText(line, SHOWN_BYTES);
  return JSON.stringify(cut === line ? line : `${cut}…`);
}
