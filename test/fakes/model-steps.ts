// What one answer of the fake model server is: its content, its shape on the wire, and how it goes wrong.
// Field names are ours; the dialects turn them into their own events (`model-streams.ts`).
import type { Dialect } from '../../shared/ipc/turn-snapshot.js';
import type { JsonObject, JsonValue } from '../../shared/json.js';

export type HttpDialect = Exclude<Dialect, 'builtin'>;

export interface FakeCall {
  /** The name on the wire, such as `plan_create`. */
  readonly name: string;
  /** An object is written as JSON; a string goes out as it is, broken or not. */
  readonly arguments: JsonObject | string;
  /** Left out: a fresh id. An empty string sends an empty id. */
  readonly id?: string;
}

export interface FakeUsage {
  /** All input tokens, cached ones included. */
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  /** Anthropic and Bedrock only: the part of the input written to the cache. */
  readonly created?: number;
}

export interface BreakOff {
  /** Whole events sent before it happens. */
  readonly after: number;
  /** `end` closes cleanly without the terminal marker; `drop` resets the connection; `pings` sends comments for ever. */
  readonly how: 'drop' | 'end' | 'silence' | 'half_event' | 'pings' | 'error_event';
  /** What the error event says. */
  readonly error?: { readonly type: string; readonly message: string };
}

export interface FakeStep {
  /** Takes only requests that fit: text or pattern found in the raw body, or a test of the request. Such steps go before plain ones. */
  readonly match?: string | RegExp | ((request: FakeRequest) => boolean);
  /** How many requests it answers; 1 unless given. `Infinity` is never "unused". */
  readonly times?: number;

  readonly text?: string;
  readonly reasoning?: string;
  /** Signature or seal of the reasoning, where the dialect has one; null leaves it out. */
  readonly signature?: string | null;
  readonly calls?: readonly FakeCall[];
  /** Left out: 100 in, 20 out. Null: the answer carries no usage. */
  readonly usage?: FakeUsage | null;
  /** The dialect's own stop reason, instead of the one that fits the content. */
  readonly stop?: string;
  /** Left out: the model that was asked for. */
  readonly model?: string;

  /** Characters of one delta of text, reasoning or arguments; left out: all in one. */
  readonly pieces?: number;
  /** Splits the byte stream into writes of this many bytes, characters cut in the middle included. */
  readonly splitBytes?: number;
  /** Wait before the head of the response. */
  readonly delayMs?: number;
  /** Wait before each event. */
  readonly pieceDelayMs?: number;
  /** The response starts when this resolves. */
  readonly hold?: Promise<void>;
  /** Payloads of extra `data:` lines sent after the first event: chunks without a delta, no JSON, unknown events. */
  readonly junk?: readonly string[];

  /** Anything but 200 sends `body` instead of a stream. */
  readonly status?: number;
  /** Extra response headers, `retry-after` for one. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | JsonValue;
  /** The bytes of the stream, exactly. */
  readonly raw?: string | Buffer | readonly (string | Buffer)[];

  /** `no_answer` accepts and never answers; `drop` resets the connection before any byte. */
  readonly hang?: 'no_answer' | 'headers_only' | 'half_event' | 'pings' | 'drop';
  readonly breakOff?: BreakOff;
}

export interface FakeRequest {
  /** From 0, in order of arrival. */
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly dialect: HttpDialect;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bodyText: string;
  /** The parsed body; `{}` when it was not a JSON object. */
  readonly body: JsonObject;
  /** Number of the connection it came on, from 1. */
  readonly connection: number;
  /** Monotonic milliseconds when its last byte arrived. */
  readonly receivedMs: number;
  /** Resolves when the client has gone before the answer was complete. */
  readonly aborted: Promise<void>;
}

export type FakeScript = readonly FakeStep[] | ((request: FakeRequest) => FakeStep | Promise<FakeStep>);
