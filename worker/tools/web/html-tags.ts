// HTML cut into text and tags, in one pass and without building a tree. Never fails: broken markup becomes text.

export type HtmlPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'open'; readonly name: string; readonly source: string }
  | { readonly kind: 'close'; readonly name: string };

/** Elements whose content is not markup, or says nothing to a reader. */
const SKIPPED = new Set([
  'script',
  'style',
  'template',
  'svg',
  'iframe',
  'object',
  'textarea',
  'select',
  'canvas',
]);

export function* htmlPieces(html: string): Generator<HtmlPiece> {
  // ASCII only, so that positions stay the same.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf('<', at);
    if (tag === -1) break;
    if (tag > at) yield { kind: 'text', text: html.slice(at, tag) };
    const after = lower.charCodeAt(tag + 1);
    const isName = after >= 97 && after <= 122;
    if (!isName && after !== 47 && after !== 33 && after !== 63) {
      yield { kind: 'text', text: '<' };
      at = tag + 1;
      continue;
    }
    if (lower.startsWith('<!--', tag)) {
      const end = html.indexOf('-->', tag + 4);
      if (end === -1) return;
      at = end + 3;
      continue;
    }
    const end = isName ? tagEnd(html, tag + 1) : html.indexOf('>', tag + 1);
    // A tag that never ends: what is left is told as it is, once, and that is all.
    if (end === -1) {
      yield { kind: 'text', text: html.slice(tag) };
      return;
    }
    at = end + 1;
    if (after === 33 || after === 63) continue;
    const name = /^[a-z][a-z0-9-]*/.exec(lower.slice(isName ? tag + 1 : tag + 2, end))?.[0] ?? '';
    if (!isName) yield { kind: 'close', name };
    else if (SKIPPED.has(name) && html[end - 1] !== '/') {
      const close = lower.indexOf(`</${name}`, at);
      if (close === -1) return;
      const closeEnd = html.indexOf('>', close);
      at = closeEnd === -1 ? html.length : closeEnd + 1;
    } else yield { kind: 'open', name, source: html.slice(tag + 1, end) };
  }
  if (at < html.length) yield { kind: 'text', text: html.slice(at) };
}

/** The > that ends a tag: one in a quoted value does not. */
function tagEnd(html: string, from: number): number {
  let quote = '';
  let afterEquals = false;
  for (let at = from; at < html.length; at += 1) {
    const sign = html[at] ?? '';
    if (quote !== '') {
      if (sign === quote) quote = '';
    } else if (sign === '>') return at;
    else if (afterEquals && (sign === '"' || sign === "'")) quote = sign;
    if (sign === '=') afterEquals = true;
    else if (!/\s/.test(sign)) afterEquals = false;
  }
  return -1;
}

/** An attribute of a tag, its references not decoded; null when it has none. */
export function attribute(source: string, wanted: string): string | null {
  const attributes = source.matchAll(/\s([^\s"'<>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+))/g);
  for (const [, name, double, single, bare] of attributes) {
    if (name?.toLowerCase() === wanted) return double ?? single ?? bare ?? '';
  }
  return null;
}
