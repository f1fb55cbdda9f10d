// What a model sees of a body: text within its room, and an artifact for the whole where not all could be shown.
import type { JsonObject } from '../../../shared/json.js';
import type { ToolResult } from '../../../shared/tools/tool-result.js';
import { cutText, sendableText } from '../../../shared/transcript/unicode.js';
import { clipText } from '../bounded-output.js';
import { jsonBytes } from '../files/fit-json.js';
import { type BodyStore, KEPT_BYTES_MAX, storeText } from './body-store.js';
import { contentKind, decodeBody } from './content-kind.js';
import { htmlToText } from './html-text.js';
import type { BodyEnd } from './read-body.js';

export interface Body {
  readonly store: BodyStore;
  readonly end: BodyEnd;
  readonly contentType: string;
  readonly url: URL;
  /** HTML as it is. */
  readonly raw: boolean;
  readonly hasBody: boolean;
  readonly limitBytes: number;
  /** Bytes as JSON that the text may take. */
  readonly room: number;
  /** Where the whole text may be kept. */
  readonly textPath: string;
  readonly spillBytes: number;
}

export interface BodyResult {
  readonly content: JsonObject;
  readonly spill?: NonNullable<ToolResult['spill']>;
}

const CUT_WHY: Readonly<Record<NonNullable<BodyEnd['cut']>, string>> = {
  bytes: 'the limit of bytes was reached',
  time: 'the limit of time was reached',
  broken: 'the connection broke off',
};

export async function bodyResult(body: Body): Promise<BodyResult> {
  const { store, end } = body;
  const facts: JsonObject = { bytes: end.bytes, truncated: end.cut !== null };
  const notes: string[] = [];
  if (end.cut !== null) notes.push(`The body is not whole: ${CUT_WHY[end.cut]} after ${end.bytes} bytes.`);
  if (!body.hasBody) return { content: {} };
  const head = store.head;
  const kind = contentKind(body.contentType, head, end.cut === null && head.length === end.bytes);
  if (end.bytes > 0 && kind.kind === 'binary') return await binaryResult(body, facts, notes, kind.media.mime);
  const charset = kind.kind === 'binary' ? 'utf-8' : kind.charset;
  const decoded = decodeBody(head, charset);
  const page = kind.kind === 'html' && !body.raw ? htmlToText(decoded, body.url) : null;
  const whole = sendableText(page === null ? decoded : page.text);
  if (page?.cut === true || end.bytes > KEPT_BYTES_MAX)
    notes.push('Only the beginning of the body was turned into text.');
  if (page !== null && whole === '' && end.bytes > 0)
    notes.push('The page has no text of its own; it may need a browser that runs its scripts.');
  const text = fitText(whole, body.room);
  const content: JsonObject = {
    ...facts,
    ...(charset === 'utf-8' ? {} : { charset }),
    ...(page?.title ? { title: page.title.slice(0, 300) } : {}),
    text,
  };
  await store.discard();
  if (text === whole) return { content: withNotes(content, notes) };
  const kept = await storeText(body.textPath, whole, body.spillBytes);
  notes.push(
    kept === null
      ? 'The middle of the text is left out, and the whole could not be kept.'
      : 'The middle of the text is left out; the artifact holds the whole.',
  );
  const cut = withNotes({ ...content, truncated: true }, notes);
  return kept === null
    ? { content: cut }
    : { content: cut, spill: { ...kept, mime: 'text/plain; charset=utf-8' } };
}

async function binaryResult(
  body: Body,
  facts: JsonObject,
  notes: string[],
  mime: string,
): Promise<BodyResult> {
  const kept = await body.store.toFile();
  notes.push(
    kept === null
      ? 'Binary content; it could not be kept.'
      : 'Binary content; it is kept as the artifact, not shown.',
  );
  const content = withNotes({ ...facts, binary: true, mime }, notes);
  return kept === null ? { content } : { content, spill: { ...kept, mime } };
}

function withNotes(content: JsonObject, notes: readonly string[]): JsonObject {
  return notes.length === 0 ? content : { ...content, note: notes.join(' ') };
}

/** Beginning and end, with the middle counted, so that it fits as JSON. */
function fitText(text: string, room: number): string {
  const most = Math.max(200, room);
  let half = Math.floor(most / 2);
  let shown = text;
  for (let bytes = jsonBytes(shown); bytes > most + 2 && half > 0; bytes = jsonBytes(shown)) {
    shown = headAndTail(text, half);
    half = Math.floor((half * most) / Math.max(most + 1, jsonBytes(shown))) - 8;
  }
  return shown;
}

function headAndTail(text: string, half: number): string {
  const head = cutText(text, half);
  const tail = clipText(text.slice(head.length), half, 'end');
  const left = Buffer.byteLength(text) - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return `${head}\n[… ${left} bytes left out …]\n${tail}`;
}
