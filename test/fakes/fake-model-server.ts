// The one fake model of the tests and benches: all dialects on one loopback port, scripted, counted.
// It answers what the script says and nothing else: a step left over or a request too many fails `assertDone`.
import assert from 'node:assert';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import { TEST_CA_PEM, TEST_CERT_PEM, TEST_KEY_PEM } from '../fixtures/tls/loopback-certificate.js';
import { play } from './model-player.js';
import { brokenRules } from './model-request-rules.js';
import type { FakeRequest, FakeScript, FakeStep } from './model-steps.js';

export interface FakeModelOptions {
  /** Steps in order, or a function that answers every request. */
  readonly script: FakeScript;
  readonly tls?: boolean;
  /** Left out: a free one. */
  readonly port?: number;
  /** How long an idle connection is kept; left out: 60 s. */
  readonly keepAliveMs?: number;
  /** False accepts requests that a real provider would refuse (unpaired calls, empty blocks, broken Unicode). */
  readonly strict?: boolean;
  /** Names that `GET …/models` lists. */
  readonly models?: readonly string[];
}

export interface FakeModel {
  /** `http(s)://127.0.0.1:PORT`, no slash at the end. */
  readonly url: string;
  readonly openaiUrl: string;
  readonly responsesUrl: string;
  readonly anthropicUrl: string;
  bedrockUrl(model: string): string;
  /** PEM of the authority to trust; undefined without TLS. */
  readonly ca: string | undefined;
  readonly requests: readonly FakeRequest[];
  /** Connections ever accepted, TLS handshakes ever finished, and `GET …/models` ever answered. */
  readonly counts: { readonly connections: number; readonly handshakes: number; readonly probes: number };
  /** Resolves with the n-th request (from 1) once it is complete; rejects after `boundMs` (10 s). */
  waitForRequest(n: number, boundMs?: number): Promise<FakeRequest>;
  /** Steps that no request has used yet. */
  unused(): number;
  /** Fails on unused steps, on requests beyond the script, and on requests that a provider would refuse. */
  assertDone(): void;
  /** Closes connections that carry no request, as a provider does after a while. */
  closeIdle(): void;
  close(): Promise<void>;
}

interface Slot {
  readonly step: FakeStep;
  left: number;
}

interface Waiter {
  readonly n: number;
  readonly resolve: (request: FakeRequest) => void;
}

function fits(step: FakeStep, request: FakeRequest): boolean {
  if (typeof step.match === 'string') return request.bodyText.includes(step.match);
  if (step.match instanceof RegExp) return step.match.test(request.bodyText);
  return step.match === undefined ? false : step.match(request);
}

/** A step with a fitting `match` first, else the next plain one. */
function pick(slots: readonly Slot[], request: FakeRequest): FakeStep | undefined {
  const open = slots.filter((slot) => slot.left > 0);
  const slot =
    open.find((each) => fits(each.step, request)) ?? open.find((each) => each.step.match === undefined);
  if (slot === undefined) return undefined;
  slot.left -= 1;
  return slot.step;
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

async function readAll(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function dialectOf(path: string): FakeRequest['dialect'] {
  if (path.endsWith('/converse-stream')) return 'bedrock';
  if (path.endsWith('/responses')) return 'openai_responses';
  return path.includes('/messages') ? 'anthropic' : 'openai';
}

function refusal(text: string): FakeStep {
  return { status: 400, body: { error: { type: 'invalid_request_error', message: text } } };
}

class Desk implements FakeModel {
  readonly requests: FakeRequest[] = [];
  readonly counts = { connections: 0, handshakes: 0, probes: 0 };
  readonly ca: string | undefined;
  url = '';
  readonly #server: Server;
  readonly #slots: Slot[];
  readonly #options: FakeModelOptions;
  readonly #numbers = new WeakMap<Socket, number>();
  readonly #problems: string[] = [];
  readonly #waiters = new Set<Waiter>();

  constructor(options: FakeModelOptions) {
    this.#options = options;
    this.ca = options.tls === true ? TEST_CA_PEM : undefined;
    this.#slots = Array.isArray(options.script)
      ? options.script.map((step: FakeStep) => ({ step, left: step.times ?? 1 }))
      : [];
    const onRequest = (message: IncomingMessage, response: ServerResponse): void => {
      this.#serve(message, response).catch((error: unknown) => {
        this.#problems.push(`the fake itself failed: ${String(error)}`);
        response.destroy();
      });
    };
    this.#server = options.tls
      ? createTlsServer({ key: TEST_KEY_PEM, cert: TEST_CERT_PEM }, onRequest)
      : createServer(onRequest);
    this.#server.keepAliveTimeout = options.keepAliveMs ?? 60_000;
    this.#server.on('connection', () => {
      this.counts.connections += 1;
    });
    this.#server.on('secureConnection', () => {
      this.counts.handshakes += 1;
    });
    this.#server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#numbers.set(socket, this.counts.connections);
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port ?? 0, '127.0.0.1', resolve);
    });
    const { port } = this.#server.address() as AddressInfo;
    this.url = `${this.#options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  }

  get openaiUrl(): string {
    return `${this.url}/v1/chat/completions`;
  }

  get responsesUrl(): string {
    return `${this.url}/v1/responses`;
  }

  get anthropicUrl(): string {
    return `${this.url}/v1/messages`;
  }

  bedrockUrl(model: string): string {
    return `${this.url}/model/${encodeURIComponent(model)}/converse-stream`;
  }

  waitForRequest(n: number, boundMs = 10_000): Promise<FakeRequest> {
    const known = this.requests[n - 1];
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        n,
        resolve: (request) => {
          cancel();
          resolve(request);
        },
      };
      const cancel = systemClock.after(boundMs, () => {
        this.#waiters.delete(waiter);
        reject(
          new assert.AssertionError({ message: `waited for request ${n}, saw ${this.requests.length}` }),
        );
      });
      this.#waiters.add(waiter);
    });
  }

  unused(): number {
    return this.#slots.filter((slot) => slot.left > 0 && slot.left !== Number.POSITIVE_INFINITY).length;
  }

  assertDone(): void {
    assert.deepStrictEqual(this.#problems, [], 'the model server saw requests it should not have seen');
    assert.strictEqual(this.unused(), 0, 'steps of the script were never asked for');
  }

  closeIdle(): void {
    this.#server.closeIdleConnections();
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #record(message: IncomingMessage, response: ServerResponse, bodyText: string): FakeRequest {
    const path = message.url ?? '/';
    let body: JsonObject | undefined;
    const aborted = new Promise<void>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const request: FakeRequest = {
      index: this.requests.length,
      method: message.method ?? '',
      path,
      dialect: dialectOf(path),
      headers: message.headers,
      bodyText,
      get body() {
        body ??= parsed(bodyText);
        return body;
      },
      connection: this.#numbers.get(message.socket) ?? 0,
      receivedMs: systemClock.monotonic(),
      aborted,
    };
    this.requests.push(request);
    for (const waiter of this.#waiters) {
      if (waiter.n !== this.requests.length) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(request);
    }
    return request;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (message.method === 'GET') {
      this.counts.probes += 1;
      const data = (this.#options.models ?? ['fake']).map((id) => ({ id, object: 'model' }));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'list', data }));
      return;
    }
    const request = this.#record(message, response, await readAll(message));
    await play(response, request, await this.#stepFor(request));
  }

  async #stepFor(request: FakeRequest): Promise<FakeStep> {
    const broken = this.#options.strict === false ? [] : brokenRules(request);
    if (broken.length > 0) {
      this.#problems.push(...broken.map((rule) => `request ${request.index}: ${rule}`));
      return refusal(`fake: ${broken.join('; ')}`);
    }
    if (typeof this.#options.script === 'function') return this.#options.script(request);
    const step = pick(this.#slots, request);
    if (step !== undefined) return step;
    this.#problems.push(`request ${request.index} has no step`);
    return refusal('fake: the script is used up');
  }
}

/** Listens on 127.0.0.1 before it resolves. */
export async function startFakeModel(options: FakeModelOptions): Promise<FakeModel> {
  const desk = new Desk(options);
  await desk.listen();
  return desk;
}
