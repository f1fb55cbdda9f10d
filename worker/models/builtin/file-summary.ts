// Words for what one file is: its size and type, and by its type what a reader would want to know first. Pure.
import type { FileView } from './file-view.js';
import { fileTypeOf } from './languages.js';
import { manifestFacts } from './manifest.js';
import { leadComment, namesDefined } from './outline.js';
import { readmeGist, shortened } from './readme.js';
import { joinText } from './told.js';
import { block, countText, fenced, oneLine, shortLines, sizeText } from './wording.js';

const MOST_HEADINGS = 20;
const MOST_NAMES = 24;
const MOST_KEYS = 24;

export function fileSummary(path: string, view: FileView): string {
  const name = `\`${oneLine(path)}\``;
  const size = view.bytes === null ? '' : `, ${sizeText(view.bytes)}`;
  if (view.text === null)
    return `${name} is no text file${view.mime === null ? '' : ` (${oneLine(view.mime)})`}${size}.`;
  if (view.text === '') return `${name} is empty.`;
  const lines = view.lines ?? view.lastLine;
  const opening = `${name} is ${typeText(path, view.text)}: ${view.lines === null && view.cut ? 'more than ' : ''}${countText(lines, 'line')}${size}.`;
  const cut = view.cut ? `What follows is from its lines ${view.firstLine}–${view.lastLine}.` : '';
  return joinText(opening, cut, body(path, view.text));
}

function typeText(path: string, text: string): string {
  const type = fileTypeOf(path);
  if (type.language !== null) return `${type.language} source`;
  if (text.startsWith('#!')) return 'a script';
  if (/\.(?:md|markdown|mdx)$/i.test(path)) return 'a Markdown text';
  if (/\.csv$|\.tsv$/i.test(path)) return 'a table';
  if (/\.json$/i.test(path)) return 'a JSON file';
  return type.kind === 'other' || type.kind === 'documents' ? 'a text' : `a text file (${type.kind})`;
}

function body(path: string, text: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const manifest = manifestFacts(name, text);
  if (manifest !== null) {
    const title = [manifest.name, manifest.version].filter((part) => part !== null).join(' ');
    const lines = [
      `${manifest.what}${title === '' ? '' : ` ${title}`}${manifest.description === null ? '' : `. "${manifest.description}"`}`,
      ...manifest.runs.map((run) => `- ${run}`),
    ];
    return joinText(lines.join('\n'), /\.json$/i.test(name) ? jsonText(text) : '');
  }
  if (/\.json$/i.test(name)) return jsonText(text) || firstLines(text);
  if (/\.[ct]sv$/i.test(name)) return tableText(text, name.toLowerCase().endsWith('.tsv') ? '\t' : ',');
  if (/\.(?:md|markdown|mdx|rst|adoc)$/i.test(name) || /^readme/i.test(name)) return proseText(text);
  const type = fileTypeOf(path);
  if (type.kind === 'code' || text.startsWith('#!')) return codeText(text);
  if (type.kind === 'documents') return proseText(text);
  return firstLines(text);
}

function proseText(text: string): string {
  const { title, paragraph } = readmeGist(text);
  const headings = headingsOf(text);
  const outline = headings.length > 1 ? `Headings:\n${more(headings, MOST_HEADINGS)}` : '';
  const found = joinText(
    title === null ? '' : `Title: ${title}`,
    paragraph === null ? '' : `It begins: ${paragraph}`,
    outline,
  );
  return found === '' ? firstLines(text) : found;
}

/** Markdown headings of three levels, indented by level; those in code blocks are no headings. */
function headingsOf(text: string): string[] {
  const headings: string[] = [];
  let inCode = false;
  for (const line of shortLines(text)) {
    if (/^(?:`{3}|~{3})/.test(line)) inCode = !inCode;
    const match = inCode ? null : /^(#{1,3})\s+(.+)$/.exec(line);
    if (match === null) continue;
    const title = (match[2] ?? '').replace(/\s#+\s*$/, '').trim();
    headings.push(`${'  '.repeat((match[1] ?? '#').length - 1)}- ${oneLine(title, 100)}`);
  }
  return headings;
}

function codeText(text: string): string {
  const comment = leadComment(text);
  const names = namesDefined(text);
  const defined =
    names.length === 0
      ? ''
      : `Defines: ${names
          .slice(0, MOST_NAMES)
          .map((name) => oneLine(name, 60))
          .join(', ')}${names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : ''}.`;
  const found = joinText(comment === null ? '' : `Its first comment: ${shortened(comment)}`, defined);
  return found === '' ? firstLines(text) : found;
}

function jsonText(text: string): string {
  let root: unknown;
  try {
    root = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return '';
  }
  if (Array.isArray(root)) return `A list of ${countText(root.length, 'element')}.`;
  if (typeof root !== 'object' || root === null) return `One ${root === null ? 'null' : typeof root}.`;
  const keys = Object.keys(root);
  const shown = keys.slice(0, MOST_KEYS).map((key) => oneLine(key, 60));
  return `Keys: ${shown.join(', ')}${keys.length > MOST_KEYS ? `, and ${keys.length - MOST_KEYS} more` : ''}.`;
}

function tableText(text: string, separator: string): string {
  const rows = text.split('\n').filter((row) => row.trim() !== '');
  const columns = (rows[0] ?? '')
    .split(separator)
    .map((column) => oneLine(column.trim().replace(/^"|"$/g, ''), 60));
  return `Columns: ${columns.slice(0, MOST_KEYS).join(', ')}. ${countText(Math.max(0, rows.length - 1), 'row')} below the first.`;
}

function firstLines(text: string): string {
  const lines = text
    .split('\n')
    .slice(0, 8)
    .map((line) => oneLine(line.replaceAll('\t', '  '), 160));
  return `It begins:\n\n${fenced(block(lines.join('\n')))}`;
}

function more(lines: readonly string[], most: number): string {
  const rest = lines.length - most;
  return [...lines.slice(0, most), ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n');
}
