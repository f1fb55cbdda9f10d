// Summarises a folder or a file. Which of the two a name is, the tools say: the likelier is tried first.
import type { Command } from './command.js';
import { fileSummary } from './file-summary.js';
import { fileViewOf, readFile } from './file-view.js';
import { type FolderStory, folderSummary } from './folder-summary.js';
import { listDir } from './listing.js';
import { manifestFacts } from './manifest.js';
import { notableOf } from './notable.js';
import { type Ask, ask, type Given, type Plan, type Told } from './plan.js';
import { readmeGist } from './readme.js';
import { joinPath, survey } from './survey.js';
import { failed } from './told.js';
import { oneLine } from './wording.js';

/** README and manifests that are read for one summary. */
const MOST_MANIFESTS = 4;

export function* summarisePlan(command: Extract<Command, { kind: 'summarise' }>): Plan {
  const { path, expect } = command;
  const fileFirst = expect === 'file' || (expect === null && looksLikeFile(path));
  const first = yield* tried(path, fileFirst);
  if (first.given.failure === null) return yield* summaryOf(path, first);
  const second = yield* tried(path, !fileFirst);
  if (second.given.failure === null) return yield* summaryOf(path, second);
  // The failure of the likelier reading is the one that helps.
  return failed(`\`${oneLine(path)}\` could not be summarised: ${first.given.failure}.`);
}

interface Tried {
  readonly given: Given;
  readonly isFile: boolean;
}

function* tried(path: string, isFile: boolean): Generator<readonly Ask[], Tried, readonly Given[]> {
  const { tool, arguments: args } = isFile ? readFile(path) : listDir(path);
  return { given: yield* ask(tool, args), isFile };
}

function* summaryOf(path: string, { given, isFile }: Tried): Plan {
  if (!isFile) return yield* folderPlan(path, given);
  const text = fileSummary(path, fileViewOf(given.content));
  return { text, result: text };
}

/** An ending, or a name that is mostly a file's. */
function looksLikeFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return (
    /^[^.].*\.[A-Za-z0-9]{1,8}$/.test(name) ||
    /^(?:readme|licen[cs]e|makefile|dockerfile|copying|changelog)$/i.test(name)
  );
}

function* folderPlan(path: string, first: Given): Generator<readonly Ask[], Told, readonly Given[]> {
  const found = yield* survey(path, first);
  const notable = notableOf(found.entries);
  const manifests = notable.manifests.slice(0, MOST_MANIFESTS);
  const wanted = [...(notable.readme === null ? [] : [notable.readme]), ...manifests];
  const given = wanted.length === 0 ? [] : yield wanted.map((file) => readFile(joinPath(path, file)));
  const textOf = (file: string): { text: string | null; failure: string | null } => {
    const one = given[wanted.indexOf(file)] ?? { content: null, failure: 'no result' };
    const text = one.failure === null ? fileViewOf(one.content).text : null;
    return { text, failure: one.failure ?? (text === null ? 'it is no text' : null) };
  };
  const story: FolderStory = {
    path,
    survey: found,
    notable,
    readme: notable.readme === null ? null : readmeOf(notable.readme, textOf(notable.readme)),
    manifests: manifests.map((file) => {
      const { text } = textOf(file);
      return { path: file, facts: text === null ? null : manifestFacts(file, text) };
    }),
  };
  const text = folderSummary(story);
  return { text, result: text };
}

function readmeOf(
  path: string,
  read: { text: string | null; failure: string | null },
): FolderStory['readme'] {
  return { path, gist: read.text === null ? null : readmeGist(read.text), failure: read.failure };
}
