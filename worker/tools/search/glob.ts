// Path patterns: * ? [a-z] within a name, ** across folders, {a,b} for alternatives, \ before a sign taken as it is.
// Matched by hand in linear steps: patterns come from models and from ignore files, and as regular expressions some of
// them would run for ever. Pure.

type Token =
  | { readonly is: 'sign'; readonly sign: string }
  | { readonly is: 'any' }
  | { readonly is: 'star' }
  | {
      readonly is: 'class';
      readonly negated: boolean;
      readonly ranges: readonly (readonly [string, string])[];
    };

type Segment = '**' | readonly Token[];

/** One pattern without alternatives, as segments between slashes. */
export type Glob = readonly Segment[];

const ALTERNATIVES_MAX = 256;

/** Every alternative of the pattern; null when there are too many. Empty segments and "." are dropped. */
export function parseGlob(pattern: string): readonly Glob[] | null {
  const spelled = alternatives(pattern);
  return spelled === null ? null : spelled.map(parsePlainGlob);
}

/** A pattern in which braces mean themselves. */
export function parsePlainGlob(pattern: string): Glob {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.');
  return segments.map((segment) => (segment === '**' ? segment : tokensOf(segment)));
}

export function matchesGlob(glob: Glob, names: readonly string[]): boolean {
  let at = 0;
  let name = 0;
  let star = -1;
  let starName = 0;
  while (name < names.length) {
    const segment = glob[at];
    if (segment === '**') {
      star = at;
      starName = name;
      at += 1;
    } else if (segment !== undefined && matchesName(segment, names[name] ?? '')) {
      at += 1;
      name += 1;
    } else if (star !== -1) {
      starName += 1;
      name = starName;
      at = star + 1;
    } else return false;
  }
  while (glob[at] === '**') at += 1;
  return at === glob.length;
}

function matchesName(tokens: readonly Token[], name: string): boolean {
  const signs = [...name];
  let at = 0;
  let sign = 0;
  let star = -1;
  let starSign = 0;
  while (sign < signs.length) {
    const token = tokens[at];
    if (token?.is === 'star') {
      star = at;
      starSign = sign;
      at += 1;
    } else if (token !== undefined && matchesSign(token, signs[sign] ?? '')) {
      at += 1;
      sign += 1;
    } else if (star !== -1) {
      starSign += 1;
      sign = starSign;
      at = star + 1;
    } else return false;
  }
  while (tokens[at]?.is === 'star') at += 1;
  return at === tokens.length;
}

function matchesSign(token: Token, sign: string): boolean {
  if (token.is === 'any') return true;
  if (token.is === 'sign') return token.sign === sign;
  if (token.is === 'star') return false;
  return token.ranges.some(([from, to]) => sign >= from && sign <= to) !== token.negated;
}

function tokensOf(segment: string): readonly Token[] {
  const signs = [...segment];
  const tokens: Token[] = [];
  for (let at = 0; at < signs.length; at += 1) {
    const sign = signs[at] ?? '';
    if (sign === '*') {
      if (tokens.at(-1)?.is !== 'star') tokens.push({ is: 'star' });
    } else if (sign === '?') tokens.push({ is: 'any' });
    else if (sign === '\\' && at + 1 < signs.length) {
      at += 1;
      tokens.push({ is: 'sign', sign: signs[at] ?? '' });
    } else {
      const end = sign === '[' ? classEnd(signs, at) : -1;
      if (end === -1) tokens.push({ is: 'sign', sign });
      else {
        tokens.push(classOf(signs.slice(at + 1, end)));
        at = end;
      }
    }
  }
  return tokens;
}

/** Where the class that begins at `at` ends; -1 when it does not, and the bracket means itself. */
function classEnd(signs: readonly string[], at: number): number {
  const negated = signs[at + 1] === '!' || signs[at + 1] === '^';
  // A bracket right at the beginning is a member, not the end.
  return signs.indexOf(']', at + (negated ? 3 : 2));
}

function classOf(inside: readonly string[]): Token {
  const negated = inside[0] === '!' || inside[0] === '^';
  const members = negated ? inside.slice(1) : inside;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at += 1) {
    if (members[at] === '\\' && at + 1 < members.length) at += 1;
    const from = members[at] ?? '';
    const to = members[at + 2];
    if (members[at + 1] === '-' && to !== undefined) {
      ranges.push([from, to]);
      at += 2;
    } else ranges.push([from, from]);
  }
  return { is: 'class', negated, ranges };
}

/** The pattern with each choice of its braces. A brace without a comma, or without its other half, means itself. */
function alternatives(pattern: string): readonly string[] | null {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const brace = firstBrace(next);
    if (brace === null) done.push(next);
    else open.push(...brace.parts.map((part) => `${brace.before}${part}${brace.after}`).reverse());
    if (done.length + open.length > ALTERNATIVES_MAX) return null;
  }
  return done;
}

interface Brace {
  readonly before: string;
  readonly parts: readonly string[];
  readonly after: string;
}

function firstBrace(pattern: string): Brace | null {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    if (pattern[start - 1] === '\\') continue;
    const brace = braceAt(pattern, start);
    if (brace !== null) return brace;
  }
  return null;
}

function braceAt(pattern: string, start: number): Brace | null {
  const parts: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start + 1; at < pattern.length; at += 1) {
    const sign = pattern[at];
    if (sign === '\\') at += 1;
    else if (sign === '{') depth += 1;
    else if (sign === '}' && depth > 0) depth -= 1;
    else if (depth === 0 && (sign === ',' || sign === '}')) {
      parts.push(pattern.slice(from, at));
      from = at + 1;
      if (sign === '}')
        return parts.length < 2
          ? null
          : { before: pattern.slice(0, start), parts, after: pattern.slice(at + 1) };
    }
  }
  return null;
}
