// What one provider dialect is: how a request is written and how its stream is read. No network, no retries, no clock.

import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { Usage } from '../../shared/transcript/usage.js';
import type { ModelAnswer, ModelEvent, ModelRequest } from './provider.js';

export interface WrittenRequest {
  /** The body, well-formed, ready to send. */
  readonly text: string;
  /** Optional parts that it holds and that may be left out if the model refuses them, by the names that `settings.omit` uses. */
  readonly options: readonly string[];
}

/** What a provider said went wrong, in its own words. For classification only: never shown, never logged. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly param: string;
  readonly message: string;
}

/**
 * What one event of the stream was worth: `content` is progress, `ping` only says that the peer lives, `nothing` is
 * neither, `last` may still be followed by numbers, `done` is the terminal marker, `failed` leaves `failure` behind.
 */
export type Reading = 'content' | 'ping' | 'nothing' | 'last' | 'done' | 'failed';

export interface AnswerReader {
  take(data: string): Reading;
  /** Set once an event told of an error. */
  readonly failure: Refusal | null;
  /** True once the answer is known to be complete, terminal marker or not. */
  readonly complete: boolean;
  /** True once an event with a delta was told. */
  readonly streamed: boolean;
  /** The numbers so far; null when there were none. */
  usage(): Usage | null;
  /** The whole answer; `fallbackModel` names the model where the stream did not. */
  answer(fallbackModel: string): ModelAnswer;
}

/** Why the bytes of a stream cannot be cut into events any further. */
export type StreamFault = 'too_large' | 'damaged';

/** How the bytes of a response become events. */
export interface Framing {
  /** What is asked for, and what a stream says that it is. */
  readonly contentType: string;
  /** Pieces may be cut anywhere; after `onBroken` nothing more is told. */
  open(
    onEvent: (data: string) => void,
    onBroken: (fault: StreamFault) => void,
  ): { push(bytes: Buffer): void; end(): void };
}

/** The request as it is about to be sent, for dialects that sign it. */
export interface Sending {
  readonly url: URL;
  readonly body: string;
  /** Wall time. */
  readonly nowMs: number;
}

export interface Dialect {
  readonly framing: Framing;
  /** The media type of bodies is set already. */
  headers(request: ModelRequest, sending: Sending): Record<string, string>;
  /** Where a request for these settings goes, if its address depends on more than `settings.url`. */
  address?(url: URL, settings: ModelSettings): URL;
  write(request: ModelRequest, omit: ReadonlySet<string>): WrittenRequest;
  reader(onEvent: (event: ModelEvent) => void): AnswerReader;
}
