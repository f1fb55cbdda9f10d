// Reads the part of a request that names a folder or a file: `the src folder`, `"my notes.txt"`, `this project`.
import { PLACEHOLDER, type Quoted } from './quoting.js';

export interface Place {
  readonly path: string;
  /** What the words say it is; null when they do not say. */
  readonly expect: 'folder' | 'file' | null;
}

const FOLDER = 'folders?|director(?:y|ies)|dir|project|repo|repository|workspace|codebase|code|package|tree';
const HERE = new RegExp(
  `^(?:|it|here|everything|all|all of (?:it|this)|this|\\.|\\./|(?:(?:this|the|my|our|current|whole|entire|working)\\s+)+(?:${FOLDER})|(?:this|the)?\\s*current\\s+(?:${FOLDER}))$`,
  'i',
);
const LEAD =
  /^(?:(?:the|a|an|my|our|this|that|all|contents?|of|in|under|inside|file|named|called|from|at)\s+)+(?=\S)/i;
const FOLDER_LEAD = new RegExp(`^(?:${FOLDER})\\s+(?=\\S)`, 'i');
const FOLDER_TAIL = new RegExp(`\\s+(?:${FOLDER})$`, 'i');
const FILE_TAIL = /\s+file$/i;
const ONE_QUOTED = new RegExp(`^${PLACEHOLDER}$`);

/** No path is longer. */
const MOST_WORDS = 4_200;

/** Null when the words name no one place. */
export function placeOf(quoted: Quoted, words: string): Place | null {
  if (words.length > MOST_WORDS) return null;
  let rest = trimEnd(words.trim());
  if (HERE.test(rest)) return { path: '.', expect: 'folder' };
  let expect: Place['expect'] = null;
  for (let before = ''; before !== rest; ) {
    before = rest;
    const lead = LEAD.exec(rest)?.[0];
    if (lead !== undefined) {
      if (/\bfile\s/i.test(lead)) expect = 'file';
      rest = rest.slice(lead.length);
    }
    if (FOLDER_LEAD.test(rest)) {
      expect = 'folder';
      rest = rest.replace(FOLDER_LEAD, '');
    }
  }
  if (FOLDER_TAIL.test(rest)) {
    expect = 'folder';
    rest = rest.replace(FOLDER_TAIL, '');
  } else if (FILE_TAIL.test(rest)) {
    expect = 'file';
    rest = rest.replace(FILE_TAIL, '');
  }
  if (ONE_QUOTED.test(rest)) return { path: quoted.plain(rest) || '.', expect };
  if (rest === '' || /\s/.test(rest)) return null;
  return { path: quoted.plain(rest), expect };
}

/** Takes off what ends a sentence, and leaves the dots that are a path. */
function trimEnd(words: string): string {
  const text = words.replace(/[?!,;:]+$/, '').trimEnd();
  return /[^./\s]\.+$/.test(text) ? text.replace(/\.+$/, '') : text;
}
