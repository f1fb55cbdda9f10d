// Connections to model endpoints: kept alive between calls, and opened ahead of the first one. One lane for each
// endpoint and authority; whoever calls takes the connection that already stands.
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { createRequire } from 'node:module';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Clock } from '../../shared/clock.js';

/** TLS costs milliseconds to load, which turns against a local server need not pay. */
const load = createRequire(import.meta.url);

/** The first probe on an idle connection: before most middle boxes forget it. */
const PROBE_MS = 15_000;
/** A peer that closes a fresh connection within this time is not asked for another one. */
const SHORTEST_LIFE_MS = 1_000;
const IDLE_MAX = 4;

type Create = HttpAgent['createConnection'];

/** One endpoint. */
export class Lane {
  readonly #url: URL;
  readonly #ca: string | undefined;
  readonly #clock: Clock;
  readonly #agent: HttpAgent | HttpsAgent;
  #context: SecureContext | undefined;
  /** Opened ahead, not used yet; may still be connecting. */
  #ahead: Socket | undefined;
  #opening: Promise<boolean> | undefined;
  #closed = false;

  constructor(url: URL, ca: string | undefined, clock: Clock) {
    this.#url = url;
    this.#ca = ca;
    this.#clock = clock;
    const options = {
      keepAlive: true,
      keepAliveMsecs: PROBE_MS,
      scheduling: 'lifo',
      maxFreeSockets: IDLE_MAX,
    } as const;
    this.#agent = this.#isTls
      ? new (load('node:https') as typeof import('node:https')).Agent(options)
      : new HttpAgent(options);
    const create: Create = this.#agent.createConnection.bind(this.#agent);
    this.#agent.createConnection = (given: RequestOptions, callback): ReturnType<Create> =>
      this.#take() ?? create(given, callback);
  }

  get #isTls(): boolean {
    return this.#url.protocol === 'https:';
  }

  /** A request on a connection of this lane; throws on headers that cannot be sent. */
  request(options: RequestOptions): ClientRequest {
    const { hostname, port, pathname, search } = this.#url;
    const full: RequestOptions & { secureContext?: SecureContext } = {
      ...options,
      agent: this.#agent,
      hostname: bare(hostname),
      port,
      path: pathname + search,
    };
    if (!this.#isTls) return httpRequest(full);
    const context = this.#trust();
    if (context !== undefined) full.secureContext = context;
    return (load('node:https') as typeof import('node:https')).request(full);
  }

  /** Opens a connection unless one stands or is being opened; tells whether one stands. */
  open(limitMs: number): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    if (Object.values(this.#agent.freeSockets).some((list) => (list?.length ?? 0) > 0))
      return Promise.resolve(true);
    this.#opening ??= this.#openNow(limitMs).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Forgets connections that carry nothing, after one of them turned out to be dead. */
  dropIdle(): void {
    this.#ahead?.destroy();
    this.#ahead = undefined;
    for (const list of Object.values(this.#agent.freeSockets))
      for (const socket of list ?? []) socket.destroy();
  }

  close(): void {
    this.#closed = true;
    this.#ahead?.destroy();
    this.#ahead = undefined;
    this.#agent.destroy();
  }

  #trust(): SecureContext | undefined {
    if (this.#ca === undefined) return undefined;
    const tls = load('node:tls') as typeof import('node:tls');
    this.#context ??= tls.createSecureContext({ ca: [...tls.rootCertificates, this.#ca] });
    return this.#context;
  }

  #connect(): Socket {
    const host = bare(this.#url.hostname);
    const port = Number(this.#url.port) || (this.#isTls ? 443 : 80);
    const shared = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS };
    if (!this.#isTls) return connectTcp(shared);
    const tls = load('node:tls') as typeof import('node:tls');
    const secureContext = this.#trust();
    return tls.connect({
      ...shared,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(secureContext === undefined ? {} : { secureContext }),
      ALPNProtocols: ['http/1.1'],
    });
  }

  #openNow(limitMs: number): Promise<boolean> {
    if (this.#ahead !== undefined) return Promise.resolve(true);
    return new Promise((resolve) => {
      let socket: Socket;
      try {
        socket = this.#connect();
      } catch {
        // A broken authority or address: the call itself will say so.
        resolve(false);
        return;
      }
      this.#ahead = socket;
      const bornMs = this.#clock.monotonic();
      const cancel = this.#clock.after(limitMs, () => {
        if (this.#ahead === socket) socket.destroy();
      });
      const stands = (): void => {
        cancel();
        // An idle connection must not keep the process alive.
        if (this.#ahead === socket) socket.unref();
        resolve(true);
      };
      socket.once(this.#isTls ? 'secureConnect' : 'connect', stands);
      socket.on('error', noteOnly);
      // Bytes that nobody asked for end the connection: an answer must never be read from them.
      socket.on('data', dropSocket);
      socket.once('close', () => {
        cancel();
        resolve(false);
        if (this.#ahead !== socket) return;
        this.#ahead = undefined;
        const livedMs = this.#clock.monotonic() - bornMs;
        if (!this.#closed && livedMs >= SHORTEST_LIFE_MS) void this.open(limitMs);
      });
    });
  }

  #take(): Socket | undefined {
    const socket = this.#ahead;
    this.#ahead = undefined;
    if (socket === undefined || socket.destroyed || socket.readableEnded) return undefined;
    socket.off('data', dropSocket);
    socket.off('error', noteOnly);
    socket.ref();
    TAKEN.add(socket);
    return socket;
  }
}

/** Sockets that stood before their first request; a reset on one of these means that the peer had closed it. */
const TAKEN = new WeakSet<Socket>();

/** True the first time for a connection that was opened ahead and was ready when the request took it. */
export function stoodAlready(socket: Socket): boolean {
  return TAKEN.delete(socket) && !socket.connecting && !isShaking(socket);
}

/** True while the TLS handshake is not over. */
export function isShaking(socket: Socket): boolean {
  return (socket as { secureConnecting?: boolean }).secureConnecting === true;
}

/** URL host names carry IPv6 addresses in brackets; sockets want them bare. */
function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function noteOnly(): void {
  // The close that follows is what counts.
}

function dropSocket(this: Socket): void {
  this.destroy();
}

/** All lanes of one process. */
export class Connections {
  readonly #clock: Clock;
  readonly #lanes = new Map<string, Lane>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  lane(url: URL, ca: string | undefined): Lane {
    const key = `${url.protocol}//${url.host}${url.pathname}${url.search}\n${ca ?? ''}`;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = new Lane(url, ca, this.#clock);
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  close(): void {
    for (const lane of this.#lanes.values()) lane.close();
    this.#lanes.clear();
  }
}
