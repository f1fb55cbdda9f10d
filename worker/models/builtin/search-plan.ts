// Finds text in files and shows the lines, file by file.
import type { JsonValue } from '../../../shared/json.js';
import type { Command } from './command.js';
import { flagIn, listIn, noteOf, numberIn, objectIn, textIn } from './content.js';
import { ask, type Plan } from './plan.js';
import { failed, joinText } from './told.js';
import { countText, fenced, oneLine } from './wording.js';

const MOST_SHOWN = 200;

interface Hit {
  readonly path: string;
  readonly line: number | null;
  readonly text: string;
}

export function* searchPlan(command: Extract<Command, { kind: 'search' }>): Plan {
  const { text, regex, ignoreCase, path } = command;
  const pattern = regex ? text : literal(text);
  const given = yield* ask('grep_files', { pattern, path, ...(ignoreCase ? { ignore_case: true } : {}) });
  const what = `${regex ? `\`/${oneLine(text)}/\`` : `\`${oneLine(text)}\``}${path === '.' ? '' : ` in \`${oneLine(path)}\``}`;
  if (given.failure !== null) return failed(`${what} could not be searched for: ${given.failure}.`);
  const hits = listIn(given.content, 'matches').flatMap(hitOf);
  const cut = flagIn(given.content, 'truncated');
  const note = joinText(passedOver(given.content), noteOf(given.content));
  const searched = numberIn(given.content, 'files_searched');
  if (hits.length === 0) {
    const where = searched === null ? '' : `, in ${countText(searched, 'file')}`;
    const text = cut
      ? `No match for ${what} was found, but not everything was searched.`
      : `Nothing matches ${what}${where}.`;
    return { text: joinText(text, note), result: '' };
  }
  const files = new Set(hits.map((hit) => hit.path));
  const lines = hits.map(hitLine);
  const more = cut || hits.length > MOST_SHOWN;
  const counts = `${countText(hits.length, 'line matches', 'lines match')} ${what}, in ${countText(files.size, 'file')}`;
  return {
    text: joinText(
      `${cut ? 'At least ' : ''}${counts}:`,
      fenced(lines.slice(0, MOST_SHOWN).join('\n')),
      more ? 'There are more than these.' : '',
      note,
    ),
    result: lines.join('\n'),
  };
}

/** Files that were not searched are said, or "nothing matches" would claim too much. */
function passedOver(content: JsonValue | undefined): string {
  const skipped = objectIn(content)['skipped'];
  const parts = [
    ['binary', 'that is no text', 'that are no text'],
    ['too_large', 'that is too large', 'that are too large'],
    ['unreadable', 'that cannot be read', 'that cannot be read'],
  ].flatMap(([key = '', one = '', many = '']) => {
    const count = numberIn(skipped, key) ?? 0;
    return count === 0 ? [] : [`${countText(count, 'file')} ${count === 1 ? one : many}`];
  });
  return parts.length === 0 ? '' : `Passed over: ${parts.join(', ')}.`;
}

function hitLine({ path, line, text }: Hit): string {
  return `${oneLine(path, 300)}:${line === null ? '' : `${line}:`} ${oneLine(text.trim(), 240)}`;
}

function hitOf(match: JsonValue): Hit[] {
  const path = textIn(match, 'path');
  return path === null ? [] : [{ path, line: numberIn(match, 'line'), text: textIn(match, 'text') ?? '' }];
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
