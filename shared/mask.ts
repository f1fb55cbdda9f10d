// Takes secrets out of text and JSON before they reach the journal, a log, the wire or a model: values that are known to
// be secret, and in what is kept also the credentials that people write into URLs.
import type { JsonValue } from './json.js';

/** Shorter values would mask ordinary words. */
const SHORTEST = 6;
const MASK = '***';

export interface Masker {
  text(text: string): string;
  json<T extends JsonValue>(value: T): T;
  /** For what is kept or logged: as `json`, and the credentials of URLs go too. Never for what is to be run. */
  kept<T extends JsonValue>(value: T): T;
}

/** Bounded everywhere, so that no text can make it slow. */
const URLS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>\\`]{1,4096}/gi;
const USER_INFO = /^([a-z0-9+.-]+:\/\/)([^/?#@]{1,1000})@/i;
const SECRET_QUERY =
  /([?&](?:[\w.-]{0,40}(?:token|secret|passw(?:or)?d|api[-_]?key|signature|credentials?)|key|sig|auth)=)[\w.~%+/=-]{6,}/gi;

function withoutUrlCredentials(text: string): string {
  if (!text.includes('://')) return text;
  return text.replace(URLS, (url) =>
    url
      .replace(USER_INFO, (whole, scheme: string, user: string) =>
        // `ssh://git@host` names an account and holds no secret; over http a lone name is a token.
        user.includes(':') || /^https?:/i.test(scheme) ? `${scheme}${MASK}@` : whole,
      )
      .replace(SECRET_QUERY, `$1${MASK}`),
  );
}

function mapText(value: JsonValue, text: (text: string) => string): JsonValue {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((inner) => mapText(inner, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), mapText(inner, text)]));
}

/** Knows each value as it is, and as it looks inside JSON and URLs. */
export function makeMasker(values: readonly string[]): Masker {
  const known = new Set<string>();
  for (const value of values) {
    if (value.length < SHORTEST) continue;
    known.add(value);
    known.add(JSON.stringify(value).slice(1, -1));
    known.add(encodeURIComponent(value));
  }
  // Longest first, so that a value that holds another one disappears whole.
  const needles = [...known].sort((left, right) => right.length - left.length);
  const text = (input: string): string => {
    let output = input;
    for (const needle of needles) if (output.includes(needle)) output = output.replaceAll(needle, MASK);
    return output;
  };
  const kept = (input: string): string => withoutUrlCredentials(text(input));
  return {
    text,
    json: <T extends JsonValue>(value: T) => (needles.length === 0 ? value : (mapText(value, text) as T)),
    kept: <T extends JsonValue>(value: T) => mapText(value, kept) as T,
  };
}
