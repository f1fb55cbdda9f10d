// Words for what a survey of a folder found. Pure: facts in, text out; every gap in the facts is said.
import { type FolderFacts, folderFacts, type Group } from './folder-facts.js';
import type { ManifestFacts } from './manifest.js';
import type { Notable } from './notable.js';
import type { ReadmeGist } from './readme.js';
import type { Survey } from './survey.js';
import { countText, joined, oneLine, sizeText } from './wording.js';

export interface FolderStory {
  readonly path: string;
  readonly survey: Survey;
  readonly notable: Notable;
  /** Null when there is no README; a failure is words. */
  readonly readme: {
    readonly path: string;
    readonly gist: ReadmeGist | null;
    readonly failure: string | null;
  } | null;
  readonly manifests: readonly { readonly path: string; readonly facts: ManifestFacts | null }[];
}

/** Values of one row: as many as fit into two lines of a wide terminal. */
const ROW_WIDTH = 84;
const ROW_LINES = 2;
const NAME = 80;

export function folderSummary(story: FolderStory): string {
  const { survey } = story;
  const facts = folderFacts(survey.entries);
  const sections = [
    opening(story, facts),
    facts.files === 0 ? '' : readmeText(story),
    manifestText(story),
    table(facts, story),
    gapsText(survey),
  ].filter((section) => section !== '');
  return sections.join('\n\n');
}

function opening({ path, survey }: FolderStory, facts: FolderFacts): string {
  const name = path === '.' ? 'This folder' : `\`${oneLine(path, NAME)}\``;
  const seen = facts.files + facts.folders + facts.links + facts.others;
  const omitted = survey.cut.reduce((sum, folder) => sum + (folder.omitted ?? 0), 0);
  if (seen + omitted === 0) return survey.complete ? `${name} is empty.` : `${name} could not be listed.`;
  const parts = [countText(facts.files, 'file')];
  if (facts.folders > 0) parts.push(countText(facts.folders, 'folder'));
  if (facts.links > 0) parts.push(countText(facts.links, 'link'));
  if (facts.others > 0) parts.push(countText(facts.others, 'other entry', 'other entries'));
  const size = facts.files > 0 && facts.unsized === 0 ? `, ${sizeText(facts.bytes)} in all` : '';
  const besides = survey.passedOver.length === 0 ? '' : `, not counting what is in ${passedOverText(survey)}`;
  if (survey.cut.length > 0) {
    // What was left out may hold folders, so the count is a lower bound even where it is known.
    const total = `at least ${countText(seen + omitted, 'entry', 'entries')}`;
    return `${name} holds ${total}${besides}. What follows is from the ${countText(seen, 'entry', 'entries')} that were listed: ${joined(parts)}${size}.`;
  }
  return `${name} holds ${survey.complete ? '' : 'at least '}${joined(parts)}${size}${besides}.`;
}

/** Each name once: nested ones are mostly the same few. */
function passedOverText(survey: Survey): string {
  const names = new Set(survey.passedOver.map((path) => `${path.slice(path.lastIndexOf('/') + 1)}/`));
  return joined([...names].map((name) => oneLine(name, NAME)));
}

function readmeText({ readme, survey }: FolderStory): string {
  if (readme === null) return survey.cut.length === 0 ? 'There is no README.' : 'No README was seen.';
  const file = `\`${oneLine(readme.path, NAME)}\``;
  if (readme.failure !== null) return `${file} could not be read: ${readme.failure}.`;
  const title = readme.gist?.title ?? null;
  const paragraph = readme.gist?.paragraph ?? null;
  if (title === null && paragraph === null) return `${file} has no paragraph of prose that could be quoted.`;
  if (paragraph === null) return `${file} is titled "${title}" and says no more in prose.`;
  return `What it is, by ${file}${title === null ? '' : ` ("${title}")`}:\n\n    ${wrapped(paragraph)}`;
}

/** Quoted prose, wrapped and indented so that it cannot be taken for our own words. */
function wrapped(text: string): string {
  const lines: string[] = [];
  let current = '';
  for (const word of text.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > 92) {
      lines.push(current);
      current = word;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current].join('\n    ');
}

function manifestText({ manifests }: FolderStory): string {
  return manifests
    .map(({ path, facts }) => {
      if (facts === null) return '';
      const name = [facts.name, facts.version].filter((part) => part !== null).join(' ');
      const first = `\`${oneLine(path, NAME)}\`: ${facts.what}${name === '' ? '' : ` ${name}`}${facts.description === null ? '' : `. "${facts.description}"`}`;
      return [first, ...facts.runs.map((run) => `- ${run}`)].join('\n');
    })
    .filter((text) => text !== '')
    .join('\n');
}

function table(facts: FolderFacts, story: FolderStory): string {
  const rows: [string, readonly string[]][] = [];
  const row = (label: string, values: readonly string[]): void => {
    if (values.length > 0) rows.push([label, values]);
  };
  const sized = facts.unsized === 0;
  const group = ({ name, files, bytes }: Group<string>): string =>
    `${oneLine(name, NAME)} ${countText(files, 'file')}${sized && files > 0 ? ` (${sizeText(bytes)})` : ''}`;
  row('Languages', languageValues(facts));
  row('Kinds', facts.kinds.length > 1 || facts.languages.length === 0 ? facts.kinds.map(group) : []);
  row(
    'Folders',
    facts.tops.map((top) => group({ ...top, name: `${top.name}/` })),
  );
  row(
    'Biggest',
    facts.files > 1
      ? facts.biggest.map((entry) => `${oneLine(entry.path, NAME)} (${sizeText(entry.bytes ?? 0)})`)
      : [],
  );
  for (const mark of story.notable.marks)
    row(
      capital(mark.what),
      mark.paths.map((path) => oneLine(path, NAME)),
    );
  const width = Math.max(0, ...rows.map(([label]) => label.length));
  return rows.map(([label, values]) => `${label.padEnd(width)}  ${listed(values, width + 2)}`).join('\n');
}

function languageValues(facts: FolderFacts): string[] {
  const total = facts.languages.reduce((sum, language) => sum + language.bytes, 0);
  return facts.languages.map(({ name, files, bytes }) => {
    const share = total > 0 && facts.unsized === 0 ? `${percent(bytes / total)} in ` : '';
    return `${name} ${share}${countText(files, 'file')}`;
  });
}

function percent(share: number): string {
  return share > 0 && share < 0.01 ? '<1%' : `${Math.round(share * 100)}%`;
}

function listed(values: readonly string[], indent = 0): string {
  const lines: string[] = [''];
  let shown = 0;
  for (const value of values) {
    const line = lines.at(-1) ?? '';
    const fits = line === '' || line.length + value.length + 2 <= ROW_WIDTH;
    if (!fits && lines.length === ROW_LINES) break;
    if (fits) lines[lines.length - 1] = line === '' ? value : `${line}, ${value}`;
    else {
      lines[lines.length - 1] = `${line},`;
      lines.push(value);
    }
    shown += 1;
  }
  const more = values.length - shown;
  return `${lines.join(`\n${' '.repeat(indent)}`)}${more > 0 ? `, and ${more} more` : ''}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function gapsText({ unreadable, unvisited, cut }: Survey): string {
  const lines: string[] = [];
  if (unreadable.length > 0)
    lines.push(
      `Could not be listed: ${listed(unreadable.map(({ path, failure }) => `${oneLine(path, NAME)}/ (${failure})`))}.`,
    );
  if (cut.length > 0)
    lines.push(
      `Too many entries to list all: ${listed(cut.map(({ path }) => (path === '' ? 'the folder itself' : `${oneLine(path, NAME)}/`)))}.`,
    );
  if (unvisited > 0)
    lines.push(
      `Stopped there: ${countText(unvisited, 'deeper folder')} not looked into, so the counts are lower bounds.`,
    );
  return lines.join('\n');
}
