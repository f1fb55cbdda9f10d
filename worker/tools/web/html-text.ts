// A web page as text to read: headings, lists, tables and code marked as in Markdown, links with where they go.
import { decodeEntities } from './html-entities.js';
import { attribute, type HtmlPiece, htmlPieces } from './html-tags.js';

export interface PageText {
  readonly title: string | null;
  readonly text: string;
  /** There was more than is told. */
  readonly cut: boolean;
}

const BLOCKS = new Set(
  'address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
/** Blocks with an empty line around them. */
const SPACED = new Set(
  'p pre table ul ol blockquote h1 h2 h3 h4 h5 h6 hr article section figure dl'.split(' '),
);
const LINKS_MAX = 5000;
const CHARACTERS_MAX = 8 * 1024 * 1024;

export function htmlToText(html: string, base: URL): PageText {
  const page = new PageWriter(base);
  for (const piece of htmlPieces(html)) {
    page.take(piece);
    if (page.characters > CHARACTERS_MAX) return { ...page.result(), cut: true };
  }
  return { ...page.result(), cut: false };
}

class PageWriter {
  characters = 0;
  readonly #base: URL;
  readonly #parts: string[] = [];
  /** Line ends that wait for the next text. */
  #breaks = 0;
  #space = false;
  #pre = 0;
  #title: string | null = null;
  #inTitle = false;
  /** Open lists: the number of the last item, or null for bullets. */
  readonly #lists: (number | null)[] = [];
  #link: { readonly at: number; readonly href: string } | null = null;
  #links = 0;
  #cells = 0;

  constructor(base: URL) {
    this.#base = base;
  }

  take(piece: HtmlPiece): void {
    if (piece.kind === 'text') this.#text(decodeEntities(piece.text));
    else if (piece.kind === 'open') this.#open(piece.name, piece.source);
    else this.#close(piece.name);
  }

  result(): { title: string | null; text: string } {
    const title = this.#title?.replace(/\s+/g, ' ').trim() ?? '';
    return { title: title === '' ? null : title, text: this.#parts.join('').trim() };
  }

  #text(text: string): void {
    if (this.#inTitle) {
      this.#title = `${this.#title ?? ''}${text}`;
      return;
    }
    if (this.#pre > 0) {
      if (text !== '') this.#put(text);
      return;
    }
    const flat = text.replace(/[\s\u00a0]+/g, ' ');
    const words = flat.trim();
    if (words === '') {
      this.#space ||= flat !== '';
      return;
    }
    const spaced = (this.#space || flat.startsWith(' ')) && this.#breaks === 0 && this.#parts.length > 0;
    this.#space = flat.endsWith(' ');
    this.#put(spaced ? ` ${words}` : words, flat.endsWith(' '));
  }

  #put(text: string, space = false): void {
    if (this.#breaks > 0 && this.#parts.length > 0) this.#push('\n'.repeat(this.#breaks));
    this.#breaks = 0;
    this.#space = space;
    this.#push(text);
  }

  #push(text: string): void {
    this.#parts.push(text);
    this.characters += text.length;
  }

  #break(lines: number): void {
    this.#breaks = Math.max(this.#breaks, lines);
    this.#space = false;
  }

  #open(name: string, source: string): void {
    if (BLOCKS.has(name)) this.#break(SPACED.has(name) && this.#lists.length === 0 ? 2 : 1);
    if (name === 'title') this.#inTitle = true;
    else if (name === 'br') this.#break(Math.min(2, this.#breaks + 1));
    else if (/^h[1-6]$/.test(name)) this.#put(`${'#'.repeat(Number(name[1]))} `);
    else if (name === 'hr') this.#put('---');
    else if (name === 'ul') this.#lists.push(null);
    else if (name === 'ol') this.#lists.push(0);
    else if (name === 'li') this.#item();
    else if (name === 'tr') this.#cells = 0;
    else if (name === 'td' || name === 'th') this.#cell();
    else if (name === 'pre') this.#openPre();
    else if (name === 'code' && this.#pre === 0) this.#text('`');
    else if (name === 'a') this.#openLink(attribute(source, 'href'));
    else if (name === 'img') this.#image(attribute(source, 'alt'));
    if (name === 'hr') this.#break(2);
  }

  #close(name: string): void {
    if (name === 'title') this.#inTitle = false;
    else if (name === 'a') this.#closeLink();
    else if ((name === 'ul' || name === 'ol') && this.#lists.length > 0) this.#lists.pop();
    else if (name === 'pre') this.#closePre();
    else if (name === 'code' && this.#pre === 0) this.#push('`');
    if (BLOCKS.has(name)) this.#break(SPACED.has(name) && this.#lists.length === 0 ? 2 : 1);
  }

  #item(): void {
    const depth = Math.max(0, Math.min(8, this.#lists.length - 1));
    const last = this.#lists.length - 1;
    const number = this.#lists[last] ?? null;
    if (number !== null) this.#lists[last] = number + 1;
    this.#put(`${'  '.repeat(depth)}${number === null ? '-' : `${number + 1}.`} `);
  }

  #cell(): void {
    this.#cells += 1;
    if (this.#cells > 1) this.#put(' | ');
  }

  #openPre(): void {
    this.#put('```\n');
    this.#pre += 1;
  }

  #closePre(): void {
    if (this.#pre === 0) return;
    this.#pre -= 1;
    this.#push(this.#parts.at(-1)?.endsWith('\n') === true ? '```' : '\n```');
  }

  #openLink(href: string | null): void {
    this.#closeLink();
    const target = href === null ? null : this.#target(decodeEntities(href).trim());
    if (target === null) return;
    if (this.#space && this.#breaks === 0) this.#put(' ');
    this.#link = { at: this.#parts.length, href: target };
  }

  #closeLink(): void {
    const link = this.#link;
    this.#link = null;
    if (link === null) return;
    const inside = this.#parts.slice(link.at).join('');
    if (inside.trim() === '' || inside.trim() === link.href) return;
    // The bracket stands before the text, behind the line ends that came with it.
    let first = link.at;
    while (first < this.#parts.length - 1 && (this.#parts[first] ?? '').trim() === '') first += 1;
    const text = this.#parts[first] ?? '';
    const lead = text.length - text.trimStart().length;
    this.#parts[first] = `${text.slice(0, lead)}[${text.slice(lead)}`;
    this.#push(`](${link.href})`);
  }

  /** Where a link goes; null for one that leads nowhere else. */
  #target(href: string): string | null {
    if (href === '' || href.startsWith('#')) return null;
    this.#links += 1;
    if (this.#links > LINKS_MAX) return href.slice(0, 500);
    if (!URL.canParse(href, this.#base.href)) return null;
    const url = new URL(href, this.#base.href);
    return url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'mailto:'
      ? url.href
      : null;
  }

  #image(alt: string | null): void {
    const text = decodeEntities(alt ?? '').trim();
    if (text !== '') this.#text(`[picture: ${text}]`);
  }
}
