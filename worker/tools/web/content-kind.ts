// What a body is: text in some encoding, a web page, or binary. By what the server says, checked against the bytes.
import { type Media, mediaOf } from '../files/media-type.js';
import { detectText } from '../files/text-codec.js';
import { asWestern } from './western.js';

export type ContentKind =
  | { readonly kind: 'html' | 'text'; readonly charset: string }
  | { readonly kind: 'binary'; readonly media: Media };

const TEXT_TYPE =
  /^text\/|[/+](?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|csv|x-sh|sql|graphql|x-ndjson|jsonl|x-www-form-urlencoded|json-seq|xhtml\+xml|manifest\+json|x-httpd-php|rtf|x-tex)$/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;
const UNKNOWN_TYPE = /^(?:|application\/octet-stream|binary\/octet-stream|application\/unknown)$/;
const HEAD_BYTES = 64 * 1024;
const META_BYTES = 4096;

/** `whole`: `body` is all there is. */
export function contentKind(contentType: string, body: Buffer, whole: boolean): ContentKind {
  const [name = '', ...params] = contentType.split(';');
  const type = name.trim().toLowerCase();
  const said = charsetIn(params.join(';'));
  const head = body.subarray(0, HEAD_BYTES);
  const format = detectText(head, whole && head.length === body.length);
  const isText = TEXT_TYPE.test(type) || (UNKNOWN_TYPE.test(type) && format !== null);
  // A server that calls zeros text is believed only with an encoding in which they may stand.
  const wide = said !== null && /^utf-?(?:16|32)|^iso-2022/.test(said);
  if (!isText || (format === null && !wide)) return { kind: 'binary', media: mediaFor(type, head) };
  const isHtml =
    HTML_TYPE.test(type) ||
    (UNKNOWN_TYPE.test(type) && /^\s*<(?:!doctype html|html)/i.test(head.toString('latin1', 0, 200)));
  const marked = (format?.bomBytes ?? 0) > 0 ? (format?.encoding ?? null) : null;
  const meta = isHtml ? metaCharset(head) : null;
  const guessed = format?.encoding === 'latin1' ? 'windows-1252' : 'utf-8';
  const charset = [marked, said, meta].find((label) => label !== null && isKnown(label)) ?? guessed;
  return { kind: isHtml ? 'html' : 'text', charset };
}

export function decodeBody(body: Buffer, charset: string): string {
  const decoder = new TextDecoder(charset);
  const text = decoder.decode(body);
  // Some versions of the host read windows-1252 as latin1, which leaves control characters where signs should be.
  return decoder.encoding === 'windows-1252' ? asWestern(text) : text;
}

function mediaFor(type: string, head: Buffer): Media {
  const media = mediaOf(head);
  return media.mime === 'application/octet-stream' && /^[\w.+-]+\/[\w.+-]+$/.test(type)
    ? { ...media, mime: type }
    : media;
}

function charsetIn(params: string): string | null {
  return /charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(params)?.[1]?.toLowerCase() ?? null;
}

function metaCharset(head: Buffer): string | null {
  const text = head.toString('latin1', 0, META_BYTES);
  const said = /<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(text)?.[1]?.toLowerCase() ?? null;
  // A page that could be read as far as this is not UTF-16, whatever it says.
  return said?.startsWith('utf-16') === true ? 'utf-8' : said;
}

function isKnown(label: string): boolean {
  try {
    new TextDecoder(label);
    return true;
  } catch {
    return false;
  }
}
