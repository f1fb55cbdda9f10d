// Makes a history fit by shortening its largest messages: a head and a tail of each stays, and a line of ours says what
// is missing and where all of it is. No message goes, so every call keeps its result.
import type { JsonObject, JsonValue } from '../json.js';
import { estimateMessage, estimateMessages } from './estimate-tokens.js';
import type { Message, ToolCall } from './message.js';
import { cutText, mapJsonText } from './unicode.js';

/** Nothing is cut below this: a message must still say what it was. */
const LEAST_TOKENS = 96;
/** The line about what is missing, and the frame around it. */
const NOTICE_TOKENS = 48;
const TRIES = 4;
/** Of what is shown of a long text, the head; results begin with what they are and end with how it went. */
const HEAD_SHARE = 0.6;

/**
 * Messages of at most `roomTokens` by our estimate, as far as shortening gets there. What fits is returned as it is.
 * `handles` names the artifact that holds a message whole.
 */
export function fitHistory(
  messages: readonly Message[],
  roomTokens: number,
  handles: ReadonlyMap<Message, string> = new Map(),
): Message[] {
  if (estimateMessages(messages) <= roomTokens) return [...messages];
  const cap = capFor(messages.map(estimateMessage), roomTokens);
  return messages.map((message) =>
    estimateMessage(message) <= cap || message.role === 'system'
      ? message
      : shortenTo(message, cap, handles.get(message)),
  );
}

/** The size to which the largest come down so that all together fit. */
function capFor(sizes: readonly number[], room: number): number {
  const rising = sizes.toSorted((left, right) => left - right);
  let rest = room;
  for (const [index, size] of rising.entries()) {
    const share = rest / (rising.length - index);
    if (size > share) return Math.max(LEAST_TOKENS, Math.floor(share));
    rest -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** Text that is written as JSON inside of JSON grows: what came out too large is cut once more, by how much it grew. */
function shortenTo(message: Message, capTokens: number, handle: string | undefined): Message {
  let short = shorten(message, capTokens, handle);
  let aim = capTokens;
  for (let time = 0; time < TRIES && estimateMessage(short) > capTokens; time += 1) {
    aim = Math.floor((aim * capTokens) / estimateMessage(short));
    short = shorten(message, aim, handle);
  }
  return short;
}

function shorten(message: Message, capTokens: number, handle: string | undefined): Message {
  switch (message.role) {
    case 'tool': {
      const { content } = message;
      const shown = shortText(textOf(content), charsFor(message, capTokens), undefined);
      const artifact = handle ?? artifactOf(content);
      return {
        ...message,
        content: { shortened: shown, ...(artifact === undefined ? {} : { artifact_id: artifact }) },
      };
    }
    case 'assistant': {
      const chars = charsFor(message, capTokens);
      const parts = 1 + message.calls.reduce((count, call) => count + textsIn(call.arguments), 0);
      const each = Math.max(80, Math.floor(chars / parts));
      return {
        ...message,
        text: shortText(message.text, each, handle),
        calls: message.calls.map((call): ToolCall => ({ ...call, arguments: shortValues(call, each) })),
      };
    }
    default:
      return { ...message, text: shortText(message.text, charsFor(message, capTokens), handle) };
  }
}

/** Characters that come to the cap, at the density of this very message. */
function charsFor(message: Message, capTokens: number): number {
  const chars = lengthOf(message);
  const share = Math.max(0, capTokens - NOTICE_TOKENS) / estimateMessage(message);
  return Math.max(80, Math.floor(chars * Math.min(1, share)));
}

function lengthOf(message: Message): number {
  if (message.role === 'tool') return textOf(message.content).length;
  if (message.role !== 'assistant') return message.text.length;
  return message.calls.reduce(
    (sum, call) => sum + JSON.stringify(call.arguments).length,
    message.text.length,
  );
}

function shortValues(call: ToolCall, each: number): JsonObject {
  return mapJsonText(call.arguments, (text) => shortText(text, each, undefined)) as JsonObject;
}

function textsIn(value: JsonValue): number {
  let count = 0;
  mapJsonText(value, (text) => {
    count += 1;
    return text;
  });
  return count;
}

/** Head and tail of a text with a line between them; short texts as they are. */
export function shortText(text: string, maxChars: number, handle: string | undefined): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, Math.ceil(maxChars * HEAD_SHARE));
  const tail = tailOf(text, maxChars - head.length);
  const missing = text.length - head.length - tail.length;
  const where = handle === undefined ? '' : `; artifact ${handle} holds all of it`;
  return `${head}\n[… ${missing} characters are left out here${where} …]\n${tail}`;
}

function headOf(text: string, chars: number): string {
  const piece = text.slice(0, chars + 1);
  return cutText(piece, Buffer.byteLength(piece) - 1);
}

/** A half character at the seam goes. */
function tailOf(text: string, chars: number): string {
  const tail = text.slice(text.length - Math.max(0, chars));
  return /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail;
}

function textOf(content: JsonValue): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

function artifactOf(content: JsonValue): string | undefined {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return undefined;
  return typeof content.artifact_id === 'string' ? content.artifact_id : undefined;
}
