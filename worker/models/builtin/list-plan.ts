// Lists a folder, or finds files by name.
import type { Command } from './command.js';
import { flagIn, listIn, noteOf, textIn } from './content.js';
import { type Entry, folderFacts } from './folder-facts.js';
import { listDir, listingOf } from './listing.js';
import { ask, type Plan, type Told } from './plan.js';
import { survey } from './survey.js';
import { failed, joinText } from './told.js';
import { countText, fenced, joined, oneLine, sizeText } from './wording.js';

const MOST_SHOWN = 400;

export function* listPlan(command: Extract<Command, { kind: 'list' }>): Plan {
  const { path, deep } = command;
  const { tool, arguments: args } = listDir(path);
  const first = yield* ask(tool, args);
  const name = oneLine(path);
  if (first.failure !== null) return failed(`\`${name}\` could not be listed: ${first.failure}.`);
  if (!deep) {
    const listing = listingOf(first.content);
    return told(name, listing.entries, omittedText(listing.omitted));
  }
  const found = yield* survey(path, first);
  const gaps = [
    ...found.passedOver.map((folder) => `${oneLine(folder)}/ was not looked into.`),
    ...found.unreadable.map((folder) => `${oneLine(folder.path)}/ could not be listed: ${folder.failure}.`),
    ...(found.cut.length > 0 || found.unvisited > 0 ? ['There is more than this: it was cut.'] : []),
  ];
  const sorted = [...found.entries].sort((left, right) => (left.path < right.path ? -1 : 1));
  return told(name, sorted, gaps.slice(0, 12).join('\n'));
}

function omittedText(omitted: number | null): string {
  if (omitted === 0) return '';
  return omitted === null
    ? 'The folder holds more than these.'
    : `The folder holds ${countText(omitted, 'more entry', 'more entries')} that the listing left out.`;
}

function told(name: string, entries: readonly Entry[], gaps: string): Told {
  if (entries.length === 0) return { text: joinText(`\`${name}\` is empty.`, gaps), result: '' };
  const facts = folderFacts(entries);
  const counts = [countText(facts.files, 'file'), countText(facts.folders, 'folder')];
  if (facts.links > 0) counts.push(countText(facts.links, 'link'));
  if (facts.others > 0) counts.push(countText(facts.others, 'other entry', 'other entries'));
  const lines = entries.map(entryLine);
  const shown = lines.slice(0, MOST_SHOWN).join('\n');
  const more = lines.length - MOST_SHOWN;
  const rest = more > 0 ? `… and ${countText(more, 'more entry', 'more entries')}.` : '';
  const text = joinText(`\`${name}\` holds ${joined(counts)}:\n\n${fenced(shown)}`, rest, gaps);
  return { text, result: entries.map((entry) => entry.path).join('\n') };
}

function entryLine(entry: Entry): string {
  const name = oneLine(entry.path, 300);
  if (entry.kind === 'folder') return `${name}/`;
  if (entry.kind === 'link') return `${name} (link)`;
  if (entry.kind === 'other') return `${name} (no regular file)`;
  return entry.bytes === null ? name : `${name}  ${sizeText(entry.bytes)}`;
}

export function* findPlan(command: Extract<Command, { kind: 'find' }>): Plan {
  const { glob, path } = command;
  // A bare name is meant at any depth.
  const pattern = glob.includes('/') ? glob : `**/${glob}`;
  const given = yield* ask('glob_files', { pattern, path });
  const what = `\`${oneLine(glob)}\`${path === '.' ? '' : ` in \`${oneLine(path)}\``}`;
  if (given.failure !== null) return failed(`Files like ${what} could not be looked for: ${given.failure}.`);
  const files = listIn(given.content, 'files').flatMap((file) => {
    const name = typeof file === 'string' ? file : textIn(file, 'path');
    return name === null ? [] : [name];
  });
  const cut = flagIn(given.content, 'truncated');
  const note = noteOf(given.content);
  if (files.length === 0) {
    const text = cut
      ? `No file like ${what} was found, but not every folder was looked into.`
      : `No file matches ${what}.`;
    return { text: joinText(text, note), result: '' };
  }
  const shown = files.slice(0, MOST_SHOWN);
  const more = cut || shown.length < files.length ? 'There are more than these.' : '';
  const list = fenced(shown.map((file) => oneLine(file, 300)).join('\n'));
  return {
    text: joinText(
      `${countText(files.length, 'file matches', 'files match')} ${what}:\n\n${list}`,
      more,
      note,
    ),
    result: files.join('\n'),
  };
}
