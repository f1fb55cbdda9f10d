// URLs that may be fetched, and URLs as they may be shown.
import type { Masker } from '../../../shared/mask.js';
import { ToolFailure } from '../files/tool-failure.js';

const SECRET_NAME =
  /token|secret|passw|pwd|credential|signature|session|jwt|api[-_]?key|access[-_]?key|^(?:key|sig|auth|code|sas|se|sv|st)$|authorization|^x-(?:amz|goog|ms)-/i;
const MASK = '***';

/** Throws a ToolFailure for what may not be fetched. Does not look at addresses. */
export function parseFetchUrl(text: string, base: URL | null, mask: Masker | undefined): URL {
  if (text.trim() === '' || !URL.canParse(text, base?.href))
    throw new ToolFailure('That is no URL. Give a whole one, such as https://example.org/page.');
  const url = new URL(text, base?.href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ToolFailure(`Only http and https can be fetched, not ${url.protocol.slice(0, 40)}`);
  if (url.username !== '' || url.password !== '')
    throw new ToolFailure('A URL with a user name or password in it is not fetched; leave them out.');
  if (url.hostname === '') throw new ToolFailure('The URL names no host.');
  url.hash = '';
  if (mask !== undefined && holdsSecret(url.href, mask))
    throw new ToolFailure('The URL contains a secret of this installation; it is not sent anywhere.');
  return url;
}

function holdsSecret(href: string, mask: Masker): boolean {
  return [href, decoded(href)].some((text) => mask.text(text) !== text);
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href.replaceAll('+', ' '));
  } catch {
    return href;
  }
}

/** The URL with the values of its query masked that look like credentials. */
export function shownUrl(url: URL): string {
  if (url.search === '') return url.href;
  const parts = url.search.slice(1).split('&');
  const shown = parts.map((part) => {
    const at = part.indexOf('=');
    const name = at === -1 ? '' : part.slice(0, at);
    const value = part.slice(at + 1);
    const secret = SECRET_NAME.test(decoded(name)) || looksRandom(decoded(value));
    return secret && value !== '' ? `${name}${at === -1 ? '' : '='}${MASK}` : part;
  });
  return `${url.origin}${url.pathname}?${shown.join('&')}`;
}

/** Long, without spaces, letters and digits mixed: more likely a key than a word. */
function looksRandom(value: string): boolean {
  return (
    /^[\w+/=.~-]{24,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value) && !value.includes('/')
  );
}
