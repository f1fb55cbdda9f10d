// One reader per kind of request. Each takes the words of one step and gives a command, or null when they are not its
// kind. Wording is met half-way; what is not understood is never guessed.
import type { Command, LineRange } from './command.js';
import { placeOf } from './place.js';
import { PLACEHOLDER, type Quoted } from './quoting.js';

export type Form = (quoted: Quoted, words: string) => Command | null;

const QUOTED = new RegExp(`^${PLACEHOLDER}$`);
const URL_WORD = /^<?(https?:\/\/\S+?)[>.,;!?)]*$/i;

const help: Form = (_quoted, words) =>
  /^(?:help(?: me)?|commands|usage|\?+|who are you|what are you|what (?:else )?can (?:you|i) (?:do|ask)(?: here)?|how do you work)[?!.]*$/i.test(
    words,
  )
    ? { kind: 'help' }
    : null;

const summarise: Form = (quoted, words) => {
  const match =
    /^(?:(?:summari[sz]e|sum up|describe|explain|outline)\b|(?:(?:give|write|make|show|get)(?: me)?\s+)?(?:(?:a|an|the)\s+)?(?:(?:short|brief|quick)\s+)?(?:summary|overview|description|outline)(?:\s+(?:of|for))?\b|tell me (?:something )?about\b|tl;?dr\b|what(?:'s| is| are)(?: (?:in|inside|this|that))?(?=\s|\?|$)|what does)\s*(.*)$/is.exec(
      words,
    );
  if (match === null) return null;
  if (/^what does\b/i.test(words))
    return /^what does (?:this|it)\b.*\bdo[?.! ]*$/i.test(words) ? here() : null;
  if (/^what(?:'s| is| are)\b/i.test(words)) return question(quoted, words);
  const target = (match[1] ?? '').replace(/^[:\s]+/, '').replace(/^(?:what(?:'s| is) in|what)\s+/i, '');
  const url = URL_WORD.exec(quoted.plain(target))?.[1];
  if (url !== undefined) return { kind: 'fetch', url };
  const place = placeOf(quoted, target.replace(/\s+(?:for me|please|briefly|shortly|in short)[.!?]*$/i, ''));
  return place === null ? null : { kind: 'summarise', ...place };
};

function here(): Command {
  return { kind: 'summarise', path: '.', expect: 'folder' };
}

/** "what is this?", "what's in src": questions about a place; any other question is not ours. */
function question(quoted: Quoted, words: string): Command | null {
  const inside = /^what(?:'s| is| are)\s+(?:in|inside)\s+(.*)$/is.exec(words)?.[1];
  if (inside !== undefined) {
    const place = placeOf(quoted, inside);
    return place === null ? null : { kind: 'summarise', ...place };
  }
  return /^what(?:'s| is)\s+(?:this|that|here)(?:\s+(?:folder|directory|project|repo|repository|all|about|all about))*[?.!]*$/i.test(
    words,
  )
    ? here()
    : null;
}

const list: Form = (quoted, words) => {
  const match =
    /^(?:(?:list|ls|dir|tree)\b|(?:show|print|display|find|get)(?: me)?\s+(?:(?:all|the)\s+)*(?=(?:files|folders|contents?|directory|folder)\b)|(?:what|which) (?:files|folders)(?: and (?:files|folders))?(?: are(?: there)?| do (?:you|we) have)?(?=\s|\?|$))\s*(.*)$/is.exec(
      words,
    );
  if (match === null) return null;
  let rest = (match[1] ?? '').replace(/[?!]+$/, '').replace(/^-[A-Za-z]+\s*/, '');
  const deep =
    /\b(?:recursive(?:ly)?|deep(?:ly)?|with (?:all )?subfolders)\b/i.test(rest) || /^tree\b/i.test(words);
  rest = rest.replace(/[\s,]*\b(?:recursive(?:ly)?|deep(?:ly)?|with (?:all )?subfolders)\b/gi, '');
  rest = rest.replace(
    /^(?:(?:all|the|me|my|every)\s+)*(?:(?:files?|folders?|entries|contents?|everything)\b(?:\s+and\s+folders\b)?\s*)(?:(?:in|of|under|inside|below|from|at)\b\s*)?(?!\S*[./*])/i,
    '',
  );
  const place = placeOf(quoted, rest.replace(/^(?:in|of|under|inside|from)\s+/i, ''));
  return place === null ? null : { kind: 'list', path: place.path, deep };
};

const read: Form = (quoted, words) => {
  const match = /^(?:read|cat|open|show|print|display|view|type|head|tail)\b(?: me)?(?: out)?\s+(.+)$/is.exec(
    words,
  );
  if (match === null) return null;
  const { rest, range } = takeRange((match[1] ?? '').trim());
  const paths: string[] = [];
  const folders: string[] = [];
  for (const part of rest.split(/\s*,\s*(?:and\s+)?|\s+and\s+/i)) {
    const place = placeOf(quoted, part.replace(/^(?:the\s+)?(?:contents?|text)\s+of\s+/i, ''));
    if (place === null || place.path === '.') return null;
    paths.push(place.path);
    if (place.expect === 'folder') folders.push(place.path);
  }
  const [folder] = folders;
  if (folder !== undefined && paths.length === 1 && range === null)
    return { kind: 'list', path: folder, deep: false };
  return { kind: 'read', paths, range };
};

const SPAN = '(\\d+)(?:\\s*(?:-|–|to|until|through|\\.\\.)\\s*(\\d+|end|the end))?';
const RANGE_FORMS: readonly {
  readonly at: RegExp;
  readonly range: (one: string, two: string | undefined) => LineRange;
}[] = [
  {
    at: /^(?:the\s+)?first\s+(\d+)\s+lines?\s+(?:of|from|in)\s+|[\s,]+(?:the\s+)?first\s+(\d+)\s+lines?[.!]*$/i,
    range: (one) => ({ kind: 'between', from: 1, to: Number(one) }),
  },
  {
    at: /^(?:the\s+)?last\s+(\d+)\s+lines?\s+(?:of|from|in)\s+|[\s,]+(?:the\s+)?last\s+(\d+)\s+lines?[.!]*$/i,
    range: (one) => ({ kind: 'last', count: Number(one) }),
  },
  {
    at: new RegExp(`[\\s,]+(?:from\\s+)?(?:the\\s+)?(lines?)\\s+${SPAN}[.!]*$`, 'i'),
    range: (one, two) => between(one, two),
  },
  {
    at: new RegExp(`^(?:from\\s+)?(?:the\\s+)?(lines?)\\s+${SPAN}\\s+(?:of|from|in)\\s+`, 'i'),
    range: (one, two) => between(one, two),
  },
  {
    at: /[\s,]+(from)\s+line\s+(\d+)(?:\s+(?:on|onwards?|to the end))?[.!]*$/i,
    range: (one) => ({ kind: 'between', from: Number(one), to: null }),
  },
];

function between(one: string, two: string | undefined): LineRange {
  const from = Number(one);
  if (two === undefined) return { kind: 'between', from, to: from };
  return { kind: 'between', from, to: /^\d+$/.test(two) ? Number(two) : null };
}

function takeRange(words: string): { rest: string; range: LineRange | null } {
  // `from line 5` alone is open-ended; it must not be read as the single line 5.
  const forms = /\bfrom\s+line\s+\d+(?:\s+on(?:wards?)?|\s+to the end)?[.!]*$/i.test(words)
    ? RANGE_FORMS.slice(-1)
    : RANGE_FORMS;
  for (const form of forms) {
    const match = form.at.exec(words);
    if (match === null) continue;
    const numbers = match
      .slice(1)
      .filter((group) => group !== undefined && !/^(?:lines?|from)$/i.test(group));
    const one = numbers[0];
    if (one === undefined) continue;
    return { rest: words.replace(match[0], '').trim(), range: form.range(one, numbers[1]) };
  }
  return { rest: words, range: null };
}

/** Words that a sentence about files has, and that are no file's name. */
const NO_NAME = /^(?:files?|folders?|in|of|under|inside|there|here|are|is|and)$/i;

const find: Form = (quoted, words) => {
  const match =
    /^(?:glob\s+|(?:find|search(?: for)?|look for|locate|list|show(?: me)?|where (?:is|are))\s+(?:(?:all|the|every|any)\s+)*(?:files?\s+(?:(?:named|called|matching|like|with the name)\s+)?)?)(\S*[*?][^\s]*|\S+)(?:\s+files)?(?:\s+(?:in|under|inside|below)\s+(.+))?$/is.exec(
      words,
    );
  if (match === null) return null;
  const glob = quoted.plain(match[1] ?? '').replace(/[?!,;]+$/, '');
  const named = /^(?:glob\s|\w+(?:\s+\w+)?\s+(?:(?:all|the|every|any)\s+)*files?\s)/i.test(words);
  // Without the word "files" only a pattern is a name, and not where a text is searched for.
  const pattern = /[*?]/.test(glob) && !/^(?:search|look|where)\b/i.test(words);
  if (!(named && !NO_NAME.test(glob)) && !pattern) return null;
  const place = placeOf(quoted, match[2] ?? '');
  return place === null ? null : { kind: 'find', glob, path: place.path };
};

const search: Form = (quoted, words) => {
  const match =
    /^(?:(?:search|grep|rg|scan)(?:\s+(?:(?:in|through)\s+)?(?:the\s+)?files)?(?:\s+for)?|find|look for|where (?:is|are))\s+(.+)$/is.exec(
      words,
    );
  if (match === null) return null;
  let rest = (match[1] ?? '').trim();
  const ignoreCase = /[\s,]+(?:ignoring|ignore) case[.!]*$|[\s,]+case[- ]insensitive(?:ly)?[.!]*$/i.test(
    rest,
  );
  rest = rest.replace(/[\s,]+(?:(?:ignoring|ignore) case|case[- ]insensitive(?:ly)?)[.!]*$/i, '');
  const inside = /^in\s+(\S+)\s+for\s+(.+)$/is.exec(rest);
  const split =
    inside === null
      ? /^(.+?)\s+(?:in|under|inside|within)\s+((?:(?!\s(?:in|under|inside|within)\s).)+)$/is.exec(rest)
      : null;
  const place = placeOf(quoted, inside?.[1] ?? split?.[2] ?? '');
  const subject = (place === null ? rest : (inside?.[2] ?? split?.[1] ?? rest))
    .replace(/^(?:the\s+)?(?:text|word|words|string|phrase|pattern|regex)\s+(?=\S)/i, '')
    .replace(/(?<=\w)\s+(?:used|defined|mentioned)[?.!]*$/i, '')
    .replace(/[?!]+$/, '');
  const regex = /^\/(.+)\/$/s.exec(subject);
  const text = regex?.[1] ?? quoted.plain(subject);
  if (text.trim() === '') return null;
  return {
    kind: 'search',
    text: regex === null ? text : quoted.raw(text),
    regex: regex !== null,
    ignoreCase,
    path: place?.path ?? '.',
  };
};

const run: Form = (quoted, words) => {
  const match =
    /^(?:(?:run|execute|exec)\b(?:\s+(?:the\s+)?(?:shell\s+)?command\b)?|\$(?=\s)|(?:sh|shell|bash)(?=\s*:))\s*:?\s*(.+)$/is.exec(
      words,
    );
  if (match === null) return null;
  const rest = (match[1] ?? '').trim();
  const quotedFirst = new RegExp(`^(${PLACEHOLDER})(?:\\s+(?:in|inside|from)\\s+(.+?))?[.!]*$`, 's').exec(
    rest,
  );
  if (quotedFirst === null) return { kind: 'run', command: quoted.raw(rest), folder: null };
  const place = quotedFirst[2] === undefined ? null : placeOf(quoted, quotedFirst[2]);
  if (quotedFirst[2] !== undefined && place === null) return null;
  return { kind: 'run', command: quoted.plain(quotedFirst[1] ?? ''), folder: place?.path ?? null };
};

const PREVIOUS = /^(?:it|that|this|them|the (?:result|output|answer|text|content)s?(?: of (?:it|that))?)$/i;
/** Unquoted, these begin a description of a text rather than a text: "a poem about the sea". */
const DESCRIPTION = /^(?:an?|some|the|your|my|all|me|another|new)\s/i;

const write: Form = (quoted, words) => {
  const empty =
    /^(?:create|make|write)\s+(?:(?:a|an|the|new)\s+)*empty\s+file\s+(?:named\s+|called\s+)?(\S+)$/is.exec(
      words,
    );
  if (empty !== null) return written(quoted, empty[1], '');
  const colon =
    /^(?:write|save|put)\s+(?:to|into|in)\s+(?:(?:the|a)\s+)?(?:file\s+)?(\S+?)\s*:[^\S\n]*\n?(.+)$/is.exec(
      words,
    );
  if (colon !== null) return written(quoted, colon[1], colon[2]);
  const target =
    /^(?:write|save|put|store)\s+(.+)\s(?:to|into)\s+(.+)$/is.exec(words) ??
    /^(?:write|save|put|store)\s+(.+)\s(?:in|as)\s+(.+)$/is.exec(words);
  if (target !== null) return prose(quoted, target[2], target[1]);
  const created =
    /^(?:write|create|make|save)\s+(?:(?:a|an|the|new|text)\s+)*(?:file\s+(?:named\s+|called\s+)?)?(\S+)\s+(?:with|containing|saying|that (?:says|contains))(?:\s+(?:the\s+)?(?:text|content|contents))?(?:\s*:\s*|\s+)(.+)$/is.exec(
      words,
    );
  return created === null ? null : prose(quoted, created[1], created[2]);
};

/** Text inside a sentence: quoted, a few plain words, or a reference to the step before. */
function prose(quoted: Quoted, where: string | undefined, what: string | undefined): Command | null {
  const words = (what ?? '').trim();
  if (PREVIOUS.test(words)) return written(quoted, where, null);
  const text = words.replace(/^(?:the\s+)?(?:text|words?|line|string)\s+(?=\S)/i, '');
  return DESCRIPTION.test(text) ? null : written(quoted, where, text);
}

function written(quoted: Quoted, where: string | undefined, what: string | null | undefined): Command | null {
  const inside = /^(\S+)\s+in\s+(.+)$/is.exec(where ?? '');
  const place = placeOf(quoted, inside?.[1] ?? where ?? '');
  const folder = inside === null ? null : placeOf(quoted, inside[2] ?? '');
  if (place === null || place.path === '.' || (inside !== null && folder === null)) return null;
  const path =
    folder === null || folder.path === '.' ? place.path : `${folder.path.replace(/\/+$/, '')}/${place.path}`;
  if (what === null) return { kind: 'write', path, content: null };
  const text = what ?? '';
  return {
    kind: 'write',
    path,
    content: QUOTED.test(text.trim()) ? quoted.plain(text.trim()) : quoted.raw(text),
  };
}

const fetch: Form = (quoted, words) => {
  const match =
    /^(?:(?:fetch|get|download|open|read|curl|load|show(?: me)?|visit|browse(?: to)?)\s+)?(?:(?:the\s+)?(?:url|page|web\s?site|site)\s+)?(?:at\s+)?(\S+)$/is.exec(
      words,
    );
  const url = match === null ? undefined : URL_WORD.exec(quoted.plain(match[1] ?? ''))?.[1];
  return url === undefined ? null : { kind: 'fetch', url };
};

/** In this order: the first that understands the words has them. */
export const FORMS: readonly Form[] = [help, fetch, run, write, find, summarise, list, read, search];

/** Those whose words may be a long text. */
export const LONG_FORMS: readonly Form[] = [run, write];
