// The kinds of values that carry, or may be mistaken to carry, a credential: the token, request headers, endpoint URLs.
// A credential written inline is refused wherever it stands, and no complaint repeats a value that could be one.
import * as v from 'valibot';
import { isCredentialName, looksLikeCredential } from './credential-shape.js';
import {
  type Complaint,
  complaint,
  fromJson,
  type Leaf,
  leafOf,
  type Read,
  type ReadContext,
  showText,
} from './leaf.js';
import { hasReference, resolveReferences, Secret, withoutReferences } from './secrets.js';

/** What may stand in the open around a reference: a scheme word, perhaps with the name of its parameter. */
const SCHEME = /^(?:[A-Za-z][A-Za-z0-9_-]{0,19} ?)?(?:[A-Za-z_-]{1,20}=)?$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Set from the request itself; a configured one would break the message. */
const RESERVED_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
]);

const USE_REFERENCE =
  'write {{secret:NAME}} (an environment variable or systemd credential) or {{secret-file:PATH}}';

/** Exactly one secret reference. */
export function secret(description: string): Leaf<Secret> {
  const schema = v.pipe(
    v.string(`a credential must not stand here; ${USE_REFERENCE}`),
    v.regex(
      /^\s*\{\{\s*secret(?:-file)?\s*:[^{}]+\}\}\s*$/,
      `a credential must not stand here; ${USE_REFERENCE}`,
    ),
  );
  return {
    ...leafOf(description, schema, { show: showText }),
    read(raw, context) {
      const parsed = v.safeParse(schema, raw);
      if (!parsed.success) return complaint(parsed.issues[0].message);
      return resolved(parsed.output.trim(), context);
    },
    show: (value) => showText(value.reference),
  };
}

function resolved(text: string, context: ReadContext): Read<Secret> {
  const resolution = resolveReferences(text, context);
  if (!resolution.ok) return { ok: false, complaints: resolution.messages.map((message) => ({ message })) };
  for (const part of resolution.parts) context.onSecret(part);
  for (const warning of resolution.warnings) context.onWarning(warning);
  return { ok: true, value: resolution.secret };
}

export type HeaderValue = string | Secret;
export type Headers = Readonly<Record<string, HeaderValue>>;

/** Request headers. As text (environment, flag): a JSON object. */
export function headers(description: string): Leaf<Headers> {
  const expected = 'expected a mapping of header names to text';
  const schema = v.record(v.string(expected), v.string('expected text'), expected);
  return {
    is: 'leaf',
    unit: '',
    description,
    schema,
    nullable: false,
    fromText: fromJson,
    read: (raw, context) => readHeaders(raw, context, expected),
    show(value) {
      const shown = Object.entries(value).map(([name, header]) => {
        return `${showText(name)}: ${showText(header instanceof Secret ? header.reference : header)}`;
      });
      return `{${shown.join(', ')}}`;
    },
  };
}

function readHeaders(raw: unknown, context: ReadContext, expected: string): Read<Headers> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return complaint(expected);
  const complaints: Complaint[] = [];
  const value: Record<string, HeaderValue> = {};
  const seen = new Set<string>();
  for (const [key, text] of Object.entries(raw)) {
    const read = readHeader(key, text, context);
    if (seen.has(key.toLowerCase())) complaints.push({ key, message: 'stands twice (case does not count)' });
    else if (read.ok) value[key] = read.value;
    else complaints.push(...read.complaints.map((one) => ({ ...one, key })));
    seen.add(key.toLowerCase());
  }
  return complaints.length > 0 ? { ok: false, complaints } : { ok: true, value };
}

function readHeader(name: string, text: unknown, context: ReadContext): Read<HeaderValue> {
  if (!HEADER_NAME.test(name)) return complaint('is no header name');
  if (RESERVED_HEADERS.has(name.toLowerCase())) return complaint('is set by turnd itself; remove it');
  if (typeof text !== 'string') return complaint('expected text');
  const open = withoutReferences(text);
  if (!hasReference(text)) {
    if (isCredentialName(name) || looksLikeCredential(text) || /^(?:bearer|basic)\s+\S/i.test(text)) {
      return complaint(`a credential must not stand here; ${USE_REFERENCE}`);
    }
    return /[^\x20-\x7e]/.test(text)
      ? complaint('holds characters that no header carries')
      : { ok: true, value: text };
  }
  if (!SCHEME.test(open.trim()) || looksLikeCredential(open)) {
    return complaint('only a scheme such as "Bearer" may stand beside a secret reference');
  }
  return resolved(text, context);
}

const URL_EXPECTED = 'expected a URL that starts with http:// or https://';
const URL_SCHEMA = v.pipe(
  v.string(URL_EXPECTED),
  v.regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\//, URL_EXPECTED),
  v.maxLength(2048, 'is too long for a URL'),
);
const URLS_MAX = 16;

/** An http or https URL without credentials in it. */
export function endpoint(description: string): Leaf<string> {
  return { ...leafOf(description, URL_SCHEMA, { show: showText }), read: readOne };
}

function readOne(raw: unknown): Read<string> {
  const parsed = v.safeParse(URL_SCHEMA, raw);
  return parsed.success ? readUrl(parsed.output) : complaint(parsed.issues[0].message);
}

/** One or several http or https URLs without credentials in them, in order of preference. As text: separated by commas. */
export function endpoints(description: string): Leaf<readonly string[]> {
  const many = v.pipe(
    v.array(URL_SCHEMA, URL_EXPECTED),
    v.minLength(1, 'has no entry'),
    v.maxLength(URLS_MAX, `has more than ${URLS_MAX} entries`),
  );
  return {
    ...leafOf(description, v.pipe(v.union([URL_SCHEMA, many]), v.transform(asList)), {
      fromText: textToUrls,
      show: (urls) => (urls.length === 1 ? showText(urls[0] ?? '') : JSON.stringify(urls)),
    }),
    read: (raw) => readUrls(raw, many),
  };
}

function asList<Item>(value: Item | Item[]): readonly Item[] {
  return Array.isArray(value) ? value : [value];
}

/** A comma may stand in a URL; one that begins another URL separates. */
function textToUrls(text: string): unknown {
  const urls = text.split(/\s*,\s*(?=[Hh][Tt][Tt][Pp][Ss]?:)/);
  return urls.length > 1 ? urls : text;
}

function readUrls(raw: unknown, many: v.GenericSchema<unknown, string[]>): Read<readonly string[]> {
  if (!Array.isArray(raw)) {
    const read = readOne(raw);
    return read.ok ? { ok: true, value: [read.value] } : read;
  }
  const parsed = v.safeParse(many, raw);
  if (!parsed.success) return complaint(parsed.issues[0].message);
  const complaints = parsed.output.flatMap((url, index): Complaint[] => {
    const read = readUrl(url);
    const key = String(index);
    if (!read.ok) return read.complaints.map((one) => ({ ...one, key }));
    return parsed.output.indexOf(url) === index ? [] : [{ key, message: 'stands twice' }];
  });
  return complaints.length > 0 ? { ok: false, complaints } : { ok: true, value: parsed.output };
}

function readUrl(text: string): Read<string> {
  if (!URL.canParse(text)) return complaint(URL_EXPECTED);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return complaint(
      'a credential must not stand in the URL; use intelligence.token or intelligence.headers',
    );
  }
  for (const [name, value] of url.searchParams) {
    if (isCredentialName(name) || looksLikeCredential(value)) {
      return complaint(
        'a credential must not stand in the query; use intelligence.token or intelligence.headers',
      );
    }
  }
  return url.hash === '' ? { ok: true, value: text } : complaint('a fragment (#…) is never sent; remove it');
}
