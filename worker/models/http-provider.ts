// A model provider over HTTP: one call is a bounded series of attempts in one dialect. Counts what failed attempts
// cost, tells of every wait before it begins, and ends at once when the turn does.
import assert from 'node:assert';
import { type Clock, sleep } from '../../shared/clock.js';
import { jitter } from '../../shared/ids.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { JsonValue } from '../../shared/json.js';
import { addUsage, type Usage } from '../../shared/transcript/usage.js';
import type { Connections, Lane } from './connections.js';
import type { AnswerReader, Dialect } from './dialect.js';
import { EndpointMemory, EndpointTries, isOfEndpoint } from './endpoints.js';
import { failureOfFault } from './faults.js';
import { type ExchangeEnd, exchange } from './http.js';
import type { ModelEvent, ModelOutcome, ModelProvider, ModelRequest } from './provider.js';
import { type CallFailure, failureOf, refusalOf, type Scene } from './refusals.js';
import type { ResponseHead } from './response-head.js';
import { type NextStep, nextStep, retryAfterMs } from './retry.js';

/** What ended the attempts from outside. */
type Cut = 'aborted' | 'timeout';

type Attempt =
  | { readonly kind: 'outcome'; readonly outcome: ModelOutcome }
  | { readonly kind: 'failure'; readonly failure: CallFailure; readonly streamed: boolean }
  /** A kept connection turned out to be dead: not the provider's failure. */
  | { readonly kind: 'stale' };

function parsedBody(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** One address of the model, and the way there. */
interface Spot {
  /** As it is configured. */
  readonly name: string;
  readonly url: URL;
  readonly lane: Lane;
}

class Call {
  readonly #dialect: Dialect;
  readonly #clock: Clock;
  readonly #spots: readonly Spot[];
  readonly #tries: EndpointTries;
  readonly #memory: EndpointMemory;
  readonly #request: ModelRequest;
  readonly #onEvent: (event: ModelEvent) => void;
  readonly #signal: AbortSignal;
  readonly #omit: Set<string>;
  readonly #untilMs: number;
  #charged: Usage | null = null;

  constructor(
    dialect: Dialect,
    clock: Clock,
    spots: readonly Spot[],
    memory: EndpointMemory,
    request: ModelRequest,
    onEvent: (event: ModelEvent) => void,
    signal: AbortSignal,
  ) {
    this.#dialect = dialect;
    this.#clock = clock;
    this.#spots = spots;
    this.#tries = new EndpointTries(spots.length);
    this.#memory = memory;
    this.#request = request;
    this.#onEvent = onEvent;
    this.#signal = signal;
    this.#omit = new Set(request.settings.omit);
    this.#untilMs = clock.monotonic() + request.deadline_ms;
  }

  get #spot(): Spot {
    const spot = this.#spots[this.#tries.at];
    assert(spot !== undefined, 'an endpoint that does not exist');
    return spot;
  }

  async run(): Promise<ModelOutcome> {
    let retried = 0;
    let freshOnly = false;
    for (;;) {
      const attempt = await this.#attempt(freshOnly);
      if (attempt.kind === 'outcome') {
        if (attempt.outcome.kind === 'answer') this.#learn(true, '');
        return attempt.outcome;
      }
      if (attempt.kind === 'stale') {
        this.#spot.lane.dropIdle();
        freshOnly = true;
        continue;
      }
      const { failure, streamed } = attempt;
      const alone = this.#nextStep(failure, retried);
      if (isOfEndpoint(failure, alone)) this.#learn(false, failure.reason);
      const step = this.#tries.after(failure, alone);
      if (step.kind === 'give_up')
        return { kind: 'failed', code: step.code, message: step.message, charged: this.#charged };
      if (streamed) this.#onEvent({ kind: 'restart' });
      if (step.kind === 'drop_option') {
        this.#omit.add(step.option);
        this.#onEvent({ kind: 'option_dropped', option: step.option });
      } else if (step.kind === 'move') {
        freshOnly = false;
        if (step.fresh) retried = 0;
      } else {
        retried += 1;
        const { reason } = failure;
        this.#onEvent({ kind: 'retry', attempt: retried, delay_ms: step.delayMs, reason });
        await sleep(this.#clock, step.delayMs, this.#signal);
      }
    }
  }

  #nextStep(failure: CallFailure, retried: number): NextStep {
    return nextStep(failure, this.#request.settings, {
      retried,
      leftMs: this.#untilMs - this.#clock.monotonic(),
      nowMs: this.#clock.now(),
      random: jitter(),
    });
  }

  #learn(works: boolean, reason: string): void {
    const url = this.#spot.name;
    if (this.#memory.learn(url, works) || !works) this.#onEvent({ kind: 'endpoint', url, works, reason });
  }

  async #attempt(freshOnly: boolean): Promise<Attempt> {
    if (this.#signal.aborted) return { kind: 'outcome', outcome: { kind: this.#signal.reason as Cut } };
    const { settings, credentials } = this.#request;
    const { lane, url } = this.#spot;
    const { text, options } = this.#dialect.write(this.#request, this.#omit);
    const reader = this.#dialect.reader(this.#onEvent);
    const end = await exchange({
      lane,
      clock: this.#clock,
      headers: {
        'content-type': 'application/json',
        accept: this.#dialect.framing.contentType,
        'user-agent': 'turnd',
        ...this.#dialect.headers(this.#request, { url, body: text, nowMs: this.#clock.now() }),
        ...settings.headers,
        ...credentials.headers,
        'content-length': Buffer.byteLength(text),
      },
      body: text,
      framing: this.#dialect.framing,
      limits: {
        connectMs: settings.connect_ms,
        firstMs: settings.first_byte_ms,
        idleMs: settings.idle_ms,
        callMs: settings.call_ms,
      },
      signal: this.#signal,
      onData: (data) => reader.take(data),
    });
    return this.#judge(end, reader, options, freshOnly);
  }

  #judge(end: ExchangeEnd, reader: AnswerReader, options: readonly string[], freshOnly: boolean): Attempt {
    if (end.kind === 'aborted') return { kind: 'outcome', outcome: { kind: this.#signal.reason as Cut } };
    if (end.kind === 'fault' && end.stale && end.fault === 'lost' && !freshOnly) return { kind: 'stale' };
    if (end.kind !== 'refused' && reader.failure === null && reader.complete) return this.#answered(reader);
    this.#charge(reader.usage());
    const scene = this.#scene(end.head, options);
    const { settings } = this.#request;
    const failure =
      end.kind === 'refused'
        ? this.#refused(end.head, end.body, scene)
        : reader.failure !== null
          ? failureOf(reader.failure, scene)
          : failureOfFault(end.kind === 'fault' ? end.fault : 'lost', scene, settings);
    return { kind: 'failure', failure, streamed: reader.streamed };
  }

  #answered(reader: AnswerReader): Attempt {
    const answer = reader.answer(this.#request.settings.model);
    const { usage } = answer;
    // Attempts that failed half-way were billed too, and belong to the same call.
    const whole = usage !== null && this.#charged !== null ? addUsage(this.#charged, usage) : usage;
    return { kind: 'outcome', outcome: { kind: 'answer', answer: { ...answer, usage: whole } } };
  }

  #refused(head: ResponseHead, body: string, scene: Scene): CallFailure {
    const value = parsedBody(body);
    const says = typeof value === 'object' && value !== null && !Array.isArray(value) && 'error' in value;
    if (head.status >= 300 || says) return failureOf(refusalOf(head.status, value, head.errorType), scene);
    return {
      code: 'model_rejected',
      message: `${this.#spot.url.host} answered ${head.status} with something that is no event stream: check that the URL is that of the API`,
      reason: 'no event stream',
      retry: false,
      retryAfterMs: null,
      option: null,
    };
  }

  #charge(usage: Usage | null): void {
    if (usage !== null) this.#charged = this.#charged === null ? usage : addUsage(this.#charged, usage);
  }

  #scene(head: ResponseHead | null, options: readonly string[]): Scene {
    const { credentials, settings } = this.#request;
    const secrets = [
      ...credentials.mask,
      ...Object.values(credentials.headers),
      credentials.token ?? '',
      ...Object.values(credentials.aws ?? {}).filter((value) => value !== undefined),
    ];
    // A request id is the peer's to choose: one that carries a secret is not repeated.
    const id = head?.requestId ?? null;
    const leaks = id !== null && secrets.some((secret) => secret.length > 3 && id.includes(secret));
    return {
      host: this.#spot.url.host,
      model: settings.model,
      requestId: leaks ? null : id,
      retryAfterMs: retryAfterMs(head?.retryAfter, this.#clock.now()),
      options,
    };
  }
}

function endpoint(dialect: Dialect, settings: ModelSettings, url: string): URL | null {
  try {
    const parsed = new URL(url);
    if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return null;
    return dialect.address?.(parsed, settings) ?? parsed;
  } catch {
    return null;
  }
}

/** One dialect over kept connections. All calls of a process should share one, so that they share connections. */
export function httpProvider(dialect: Dialect, connections: Connections, clock: Clock): ModelProvider {
  const memory = new EndpointMemory();
  const spotsOf = (settings: ModelSettings, ca: string | undefined): Spot[] =>
    memory.inOrder([settings.url, ...(settings.urls ?? [])]).flatMap((name) => {
      const url = endpoint(dialect, settings, name);
      return url === null ? [] : [{ name, url, lane: connections.lane(url, ca) }];
    });
  return {
    async call(request, onEvent, signal): Promise<ModelOutcome> {
      if (signal.aborted) return { kind: 'aborted' };
      if (request.deadline_ms <= 0) return { kind: 'timeout' };
      const spots = spotsOf(request.settings, request.credentials.ca);
      if (spots.length === 0)
        return {
          kind: 'failed',
          code: 'model_rejected',
          message: 'the URL of the model is not a valid http or https address',
          charged: null,
        };
      const cut = new AbortController();
      const onAbort = (): void => cut.abort('aborted' satisfies Cut);
      const cancel = clock.after(request.deadline_ms, () => cut.abort('timeout' satisfies Cut));
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await new Call(dialect, clock, spots, memory, request, onEvent, cut.signal).run();
      } finally {
        cancel();
        signal.removeEventListener('abort', onAbort);
      }
    },
    preconnect(settings, ca): Promise<boolean> {
      const [first] = spotsOf({ ...settings, urls: [] }, ca);
      return first === undefined ? Promise.resolve(false) : first.lane.open(settings.connect_ms);
    },
    close: () => connections.close(),
  };
}
