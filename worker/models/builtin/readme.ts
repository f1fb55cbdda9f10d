// What a README says its project is: its title and its first real paragraph. Badges, pictures, tables, code, comments
// and front matter are not prose and are passed over.
import { oneLine, shortLines } from './wording.js';

export interface ReadmeGist {
  readonly title: string | null;
  readonly paragraph: string | null;
}

const LONGEST = 480;
/** Shorter words that end in a colon lead to a list or to code, and say nothing alone. */
const SHORTEST_BEFORE_COLON = 80;
/** A README that says what it is says it in its beginning. */
const MOST_READ = 100_000;

export function readmeGist(text: string): ReadmeGist {
  const lines = shortLines(withoutBlocks(text.slice(0, MOST_READ)));
  let title: string | null = null;
  let paragraph: string[] = [];
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    const heading = headingOf(line, lines[index + 1]?.trim() ?? '');
    if (heading !== null || line === '' || isNoProse(line)) {
      if (isProse(paragraph.join(' '))) break;
      paragraph = [];
      if (heading !== null) title ??= plain(heading) || null;
      continue;
    }
    paragraph.push(plain(line));
  }
  const prose = paragraph.join(' ').replace(/\s+/g, ' ').trim();
  return {
    title: title === null ? null : oneLine(title, 120),
    paragraph: isProse(prose) ? shortened(prose) : null,
  };
}

function withoutBlocks(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/^(---|\+\+\+)\n[\s\S]*?\n\1(?:\n|$)/, '')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replace(/^(`{3,}|~{3,}).*\n[\s\S]*?(?:^\1.*$|$(?![\s\S]))/gm, '')
    .replace(/<\/?[a-zA-Z][^>\n]{0,1000}>/g, (tag) =>
      /^<\/?(?:p|div|h\d|br|center|table|li|ul)\b/i.test(tag) ? '\n' : '',
    );
}

/** A heading of Markdown (`# x`, or underlined), AsciiDoc (`= x`) or reStructuredText (underlined). */
function headingOf(line: string, next: string): string | null {
  const hashed = /^(?:#{1,6}|={1,5})\s+(.+?)\s*#*$/.exec(line)?.[1];
  if (hashed !== undefined) return hashed;
  if (line !== '' && /^(?:={3,}|-{3,}|~{3,}|\*{3,}|\^{3,})$/.test(next) && !/^[=\-~*^]+$/.test(line))
    return line;
  return null;
}

function isNoProse(line: string): boolean {
  return (
    /^(?:[-*_=~^]{3,}|\|.*|[-*+]\s.*|\d+[.)]\s.*|\.\.\s.*|:[\w-]+:.*|\[[^\]]+\]:\s.*|image::.*)$/.test(
      line,
    ) ||
    plain(line) === '' ||
    /^(?:\[[^\]]*\]\([^)]*\)[\s|·•,-]*)+$/.test(line)
  );
}

/** Two words at least, or a few characters of a script that does not use spaces; no heading of what follows. */
function isProse(text: string): boolean {
  if (text.length < SHORTEST_BEFORE_COLON && text.trimEnd().endsWith(':')) return false;
  return (
    /\p{L}{2,}\S*\s+\S*\p{L}{2,}/u.test(text) ||
    /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]{6,}/u.test(text)
  );
}

function plain(line: string): string {
  return line
    .replace(/^>\s?/, '')
    .replace(/!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?/g, '')
    .replace(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/(\*\*|__)(\S.*?)\1/g, '$2')
    .replace(/(?<![\w*])\*(\S[^*]*?)\*(?![\w*])/g, '$1')
    .replace(/(?<!\w)_(\S[^_]*?)_(?!\w)/g, '$1')
    .replace(/&nbsp;/g, ' ')
    .replace(/&amp;/g, '&')
    .replace(/^\[\s*\]$/, '')
    .trim();
}

/** Cut after a sentence where there is one in the second half, else after a word. */
export function shortened(text: string, longest = LONGEST): string {
  const chars = [...oneLine(text, 100_000)];
  if (chars.length <= longest) return chars.join('');
  const cut = chars.slice(0, longest).join('');
  const sentence = Math.max(
    cut.lastIndexOf('. '),
    cut.lastIndexOf('。'),
    cut.lastIndexOf('! '),
    cut.lastIndexOf('? '),
  );
  if (sentence > longest / 2) return cut.slice(0, sentence + 1);
  const word = cut.lastIndexOf(' ');
  return `${word > longest / 2 ? cut.slice(0, word) : cut}…`;
}
