// One request and its stream, within limits of its own kind each: connect, first sign of an answer, silence between
// meaningful events, the whole call. Never throws, never rejects; what the bytes mean is the dialect's business.
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../shared/clock.js';
import { isShaking, type Lane, stoodAlready } from './connections.js';
import type { Framing, Reading } from './dialect.js';
import { headOf, type ResponseHead } from './response-head.js';

/** Response heads, an error body, and the whole stream: beyond these a response is broken or hostile. */
const HEAD_MAX = 32 * 1024;
const ERROR_BODY_MAX = 64 * 1024;
const STREAM_MAX = 512 * 1024 * 1024;
/** How long the end of a finished response is awaited, so that its connection can be used again. */
const LINGER_MS = 100;
/** A process that was stopped or busy finds its timers due before it has read what waits on the socket. */
const SECOND_LOOK_MS = 20;
/** How long numbers are awaited after the stop reason, from servers that never mark the end. */
const AFTERWORD_MS = 2_000;

export type Fault =
  | 'bad_request'
  | 'connect_failed'
  | 'connect_timeout'
  | 'tls'
  | 'first_timeout'
  | 'idle_timeout'
  | 'call_timeout'
  | 'lost'
  | 'too_large'
  | 'damaged';

export type ExchangeEnd =
  /** The stream ended, or the reader said that it has enough. */
  | { readonly kind: 'stream'; readonly head: ResponseHead }
  /** Not a stream: an error, or a body of another type. */
  | { readonly kind: 'refused'; readonly head: ResponseHead; readonly body: string }
  | {
      readonly kind: 'fault';
      readonly fault: Fault;
      readonly head: ResponseHead | null;
      /** The connection had stood idle and broke before any byte came: the peer had closed it. */
      readonly stale: boolean;
    }
  | { readonly kind: 'aborted' };

interface Exchange {
  readonly lane: Lane;
  readonly clock: Clock;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  readonly framing: Framing;
  readonly limits: {
    readonly connectMs: number;
    readonly firstMs: number;
    readonly idleMs: number;
    readonly callMs: number;
  };
  readonly signal: AbortSignal;
  /** Takes the payload of one event. */
  readonly onData: (data: string) => Reading;
}

const TLS_CODE = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

class Running {
  readonly #given: Exchange;
  readonly #resolve: (end: ExchangeEnd) => void;
  readonly #frames: ReturnType<Framing['open']>;
  readonly #onAbort = (): void => this.#end({ kind: 'aborted' });
  #cancels: (() => void)[] = [];
  #request: ClientRequest | undefined;
  #head: ResponseHead | null = null;
  #settled = false;
  /** The answer is whole; only the end of the response is missing. */
  #enough = false;
  #stale = false;
  #connected = false;
  #bytes = 0;
  /** What the peer is watched for, since when, and how long it may last. */
  #watch: { fault: Fault; sinceMs: number; limitMs: number } | undefined;

  constructor(given: Exchange, resolve: (end: ExchangeEnd) => void) {
    this.#given = given;
    this.#resolve = resolve;
    this.#frames = given.framing.open(
      (data) => this.#event(data),
      (fault) => this.#fault(fault),
    );
  }

  start(): void {
    const { clock, signal, limits, lane, headers, body } = this.#given;
    if (signal.aborted) {
      this.#end({ kind: 'aborted' });
      return;
    }
    signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#cancels.push(clock.after(limits.callMs, () => this.#fault('call_timeout')));
    try {
      const request = lane.request({ method: 'POST', headers, maxHeaderSize: HEAD_MAX });
      this.#request = request;
      request.on('socket', (socket) => this.#onSocket(socket, request.reusedSocket));
      request.on('response', (response) => this.#onResponse(response));
      request.on('error', (error: NodeJS.ErrnoException) => this.#onError(error));
      request.end(body, 'utf8');
    } catch {
      this.#fault('bad_request');
    }
  }

  #onSocket(socket: Socket, reused: boolean): void {
    this.#stale = stoodAlready(socket) || reused;
    if (!socket.connecting && !isShaking(socket)) {
      this.#onConnected();
      return;
    }
    const { clock, limits } = this.#given;
    const cancel = clock.after(limits.connectMs, () => this.#fault('connect_timeout'));
    this.#cancels.push(cancel);
    const secure = 'encrypted' in socket;
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      cancel();
      this.#onConnected();
    });
  }

  #onConnected(): void {
    if (this.#settled) return;
    this.#connected = true;
    this.#watchFor('first_timeout', this.#given.limits.firstMs);
  }

  #onResponse(response: IncomingMessage): void {
    this.#head = headOf(response);
    this.#stale = false;
    response.on('error', () => this.#onClosed());
    response.on('close', () => this.#onClosed());
    const isStream =
      this.#head.contentType === this.#given.framing.contentType || this.#head.contentType === '';
    if (this.#head.status !== 200 || !isStream) {
      this.#collect(response, this.#head);
      return;
    }
    response.on('data', (bytes: Buffer) => this.#feed(bytes));
    response.on('end', () => {
      if (!this.#settled) this.#frames.end();
      this.#end({ kind: 'stream', head: this.#head ?? headOf(response) });
    });
  }

  #collect(response: IncomingMessage, head: ResponseHead): void {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void => {
      const body = Buffer.concat(chunks).toString('utf8', 0, ERROR_BODY_MAX);
      this.#end({ kind: 'refused', head, body });
      if (!response.complete) this.#request?.destroy();
    };
    // The status alone says enough when its body never ends.
    this.#cancels.push(this.#given.clock.after(Math.min(AFTERWORD_MS, this.#given.limits.idleMs), finish));
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > ERROR_BODY_MAX) finish();
    });
    response.on('end', finish);
    response.on('aborted', finish);
  }

  #feed(bytes: Buffer): void {
    if (this.#settled) return;
    this.#bytes += bytes.length;
    if (this.#bytes > STREAM_MAX) this.#fault('too_large');
    else this.#frames.push(bytes);
  }

  #event(data: string): void {
    if (this.#settled || this.#enough) return;
    const { limits } = this.#given;
    switch (this.#given.onData(data)) {
      case 'content':
        this.#watchFor('idle_timeout', limits.idleMs);
        return;
      case 'ping':
        // A peer that says it lives gets the longer of the two limits, counted from its last real event.
        if (this.#watch !== undefined) this.#watch.limitMs = Math.max(this.#watch.limitMs, limits.firstMs);
        return;
      case 'last':
        this.#watchFor('idle_timeout', Math.min(limits.idleMs, AFTERWORD_MS));
        return;
      case 'failed':
        this.#finish();
        return;
      case 'done':
        this.#enough = true;
        this.#cancels.push(this.#given.clock.after(LINGER_MS, () => this.#finish()));
        return;
      case 'nothing':
    }
  }

  /** One timer for each kind of silence; it looks at the newest event when it fires instead of being set again by each. */
  #watchFor(fault: Fault, limitMs: number): void {
    const sinceMs = this.#given.clock.monotonic();
    if (this.#watch !== undefined) {
      const shorter = limitMs < this.#watch.limitMs;
      this.#watch = { fault, sinceMs, limitMs };
      if (shorter) this.#arm(limitMs);
      return;
    }
    this.#watch = { fault, sinceMs, limitMs };
    this.#arm(limitMs);
  }

  #arm(delayMs: number, lookedAt?: number): void {
    const cancel = this.#given.clock.after(delayMs, () => {
      if (this.#settled || this.#watch === undefined) return;
      const { sinceMs, limitMs, fault } = this.#watch;
      const leftMs = sinceMs + limitMs - this.#given.clock.monotonic();
      if (leftMs > 0) this.#arm(leftMs);
      else if (lookedAt === sinceMs) this.#fault(fault);
      else this.#arm(SECOND_LOOK_MS, sinceMs);
    });
    this.#cancels.push(cancel);
  }

  #onError(error: NodeJS.ErrnoException): void {
    if (this.#head !== null) this.#onClosed();
    else this.#fault(this.#faultOf(error.code ?? ''));
  }

  #faultOf(code: string): Fault {
    if (this.#stale) return 'lost';
    if (TLS_CODE.test(code)) return 'tls';
    if (code === 'HPE_HEADER_OVERFLOW') return 'too_large';
    return this.#connected ? 'lost' : 'connect_failed';
  }

  #onClosed(): void {
    if (this.#enough) this.#finish();
    else this.#fault('lost');
  }

  /** Ends before the response did; its connection goes with it. */
  #finish(): void {
    if (this.#head !== null) this.#end({ kind: 'stream', head: this.#head });
    this.#request?.destroy();
  }

  #fault(fault: Fault): void {
    this.#end({ kind: 'fault', fault, head: this.#head, stale: this.#stale });
  }

  #end(end: ExchangeEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancels = [];
    this.#given.signal.removeEventListener('abort', this.#onAbort);
    if (end.kind === 'fault' || end.kind === 'aborted') this.#request?.destroy();
    this.#resolve(end);
  }
}

/** Sends the request and passes its events on until it ends, for whatever reason. */
export function exchange(given: Exchange): Promise<ExchangeEnd> {
  return new Promise((resolve) => new Running(given, resolve).start());
}
