// Paths as diffs write them: quoted, with a date behind, with a/ and b/ in front.

export interface DiffPaths {
  /** Null for /dev/null. */
  readonly old: string | null;
  readonly new: string | null;
}

/** The path of a header line; null for /dev/null. */
export function diffPath(text: string): string | null {
  const trimmed = text.replace(/\r$/, '');
  const path = trimmed.startsWith('"') ? unquoted(trimmed) : (trimmed.split('\t')[0] ?? '').trimEnd();
  return path === '/dev/null' ? null : path;
}

/** Without a/ and b/, where both sides have them. */
export function stripPrefixes(paths: DiffPaths): DiffPaths {
  const isOld = paths.old === null || paths.old.startsWith('a/');
  const isNew = paths.new === null || paths.new.startsWith('b/');
  if (!isOld || !isNew) return paths;
  return { old: paths.old?.slice(2) ?? null, new: paths.new?.slice(2) ?? null };
}

/** The path of "diff --git a/PATH b/PATH" when both are the same; else null, and other lines name them. */
export function gitHeaderPath(rest: string): string | null {
  const text = rest.trimEnd();
  if (text.startsWith('"')) {
    const end = /^"(?:[^"\\]|\\.)*"/.exec(text)?.[0] ?? '';
    return unquoted(end).slice(2);
  }
  const path = text.slice(2, 2 + (text.length - 5) / 2);
  return text === `a/${path} b/${path}` ? path : null;
}

const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/** A name in C's quotes, in which bytes that are no ASCII are written in octal. */
function unquoted(text: string): string {
  const bytes: Buffer[] = [];
  const pieces = text.slice(1).matchAll(/\\([0-7]{3})|\\(.)|(".*)|([^\\"]+)/gsu);
  for (const [, octal, escaped, end, plain] of pieces) {
    if (end !== undefined) break;
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8) & 0xff]));
    else if (escaped !== undefined) bytes.push(Buffer.from([ESCAPES[escaped] ?? escaped.charCodeAt(0)]));
    else if (plain !== undefined) bytes.push(Buffer.from(plain));
  }
  return Buffer.concat(bytes).toString();
}
