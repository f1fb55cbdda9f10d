// Prints files, or a part of them.
import type { Command } from './command.js';
import { type FileView, fileViewOf, readFile } from './file-view.js';
import type { Given, Plan } from './plan.js';
import { joinText } from './told.js';
import { block, countText, fenced, head, oneLine, sizeText } from './wording.js';

const MOST_SHOWN = 40_000;

export function* readPlan(command: Extract<Command, { kind: 'read' }>): Plan {
  const { paths, range } = command;
  const given = yield paths.map((path) => readFile(path, range));
  const texts: string[] = [];
  const results: string[] = [];
  for (const [index, path] of paths.entries()) {
    const one = given[index] ?? { content: null, failure: 'no result' };
    texts.push(readText(path, one));
    const text = one.failure === null ? fileViewOf(one.content).text : null;
    if (text !== null) results.push(text);
  }
  return { text: joinText(...texts), result: results.length === 0 ? null : results.join('\n') };
}

function readText(path: string, given: Given): string {
  const name = `\`${oneLine(path)}\``;
  if (given.failure !== null) return `${name} could not be read: ${given.failure}.`;
  const view = fileViewOf(given.content);
  if (view.text === null) return `${name} is no text${about(view)}.`;
  if (view.text === '')
    return view.bytes === 0 ? `${name} is empty.` : `${name} has no such lines${about(view)}.`;
  const shown = head(block(view.text), MOST_SHOWN);
  const rest = shown.whole ? '' : 'Only the first part is shown here; ask for lines to see more.';
  return joinText(`${name}, ${extent(view)}:`, fenced(shown.text), rest);
}

function about(view: FileView): string {
  const facts = [view.mime ?? '', view.bytes === null ? '' : sizeText(view.bytes)].filter(
    (fact) => fact !== '',
  );
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`;
}

/** Which part of how much is shown. */
function extent(view: FileView): string {
  const whole = !view.cut && view.firstLine === 1;
  const of = view.lines === null ? '' : ` of ${view.lines}`;
  if (!whole && view.firstLine === view.lastLine) return `line ${view.firstLine}${of}`;
  if (!whole) return `lines ${view.firstLine}–${view.lastLine}${of}`;
  const lines = view.lines ?? view.lastLine;
  return [countText(lines, 'line'), view.bytes === null ? '' : sizeText(view.bytes)]
    .filter((fact) => fact !== '')
    .join(', ');
}
