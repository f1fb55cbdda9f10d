// The port: HTTP for probes, and the door to the WebSocket. Who is let in is decided before the upgrade, in the order path,
// names, token, room: a stranger learns nothing but that the door is shut.
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../shared/clock.js';
import { TurndError } from '../../shared/errors.js';
import type { EngineStatus } from '../handlers/ports.js';
import { answerHttp } from './health.js';
import { type OperatorToken, WrongTries } from './operator-token.js';
import { bearerOf, chosenProtocol, type DoorRules, namesRefusal, type Refusal } from './upgrade-rules.js';

export interface ListenerParts {
  /** `http://127.0.0.1:17878`; port 0 takes a free one. */
  readonly listen: string;
  readonly rules: DoorRules;
  readonly maxConnections: number;
  readonly token: OperatorToken;
  readonly clock: Clock;
  status(): EngineStatus;
  /** Whether one more may come. */
  hasRoom(): boolean;
  connected(socket: WebSocket): void;
}

export interface Listener {
  /** With the port that it really has. */
  readonly url: string;
  close(): Promise<void>;
}

const FRAME_BYTES_MAX = 8 * 1024 * 1024;
/** Wrong tries whose answers are held back at once; more are cut off. */
const HELD_BACK_MAX = 64;

export async function listen(parts: ListenerParts): Promise<Listener> {
  const { listen: address } = parts;
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: false,
    handleProtocols: chosenProtocol,
  });
  const server = createServer((request, response) => answerHttp(request, response, parts));
  // Rooms for probes beside those for clients.
  server.maxConnections = 2 * parts.maxConnections + HELD_BACK_MAX;
  const door = new Door(parts, sockets);
  server.on('upgrade', (request, socket, head) => door.knock(request, socket, head));
  const { hostname, port } = new URL(address);
  const bare = hostname.replace(/^\[|\]$/g, '');
  const taken = await opened(server, bare, Number(port || 80), address);
  return {
    url: `http://${hostname}:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function opened(server: Server, host: string, port: number, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
      reject(new TurndError('invalid_config', `gateway.listen ${address}: ${why}`, { cause: error }));
    });
    server.listen({ host, port }, () => {
      const at = server.address();
      resolve(typeof at === 'object' && at !== null ? at.port : port);
    });
  });
}

class Door {
  readonly #parts: ListenerParts;
  readonly #sockets: WebSocketServer;
  readonly #wrong: WrongTries;
  #heldBack = 0;

  constructor(parts: ListenerParts, sockets: WebSocketServer) {
    this.#parts = parts;
    this.#sockets = sockets;
    this.#wrong = new WrongTries(parts.clock);
  }

  knock(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const refusal = this.#refusal(request);
    if (refusal === null) {
      this.#sockets.handleUpgrade(request, socket, head, (client) => this.#parts.connected(client));
      return;
    }
    if (refusal.status === 401) this.#refuseSlowly(socket, refusal);
    else refuse(socket, refusal);
  }

  #refusal(request: IncomingMessage): Refusal | null {
    const { rules, token } = this.#parts;
    const path = (request.url ?? '').split('?')[0];
    if (path !== '/' && path !== '/ws') return { status: 404, message: 'there is nothing here' };
    const names = namesRefusal(request.headers, rules);
    if (names !== null) return names;
    const given = bearerOf(request.headers);
    if (given === null) return { status: 401, message: 'a bearer token is missing' };
    if (!token.is(given)) return { status: 401, message: 'the bearer token is not valid' };
    return this.#parts.hasRoom() ? null : { status: 503, message: 'too many clients are connected' };
  }

  #refuseSlowly(socket: Duplex, refusal: Refusal): void {
    const waitMs = this.#wrong.waitMs();
    if (waitMs === 0) {
      refuse(socket, refusal);
      return;
    }
    if (this.#heldBack >= HELD_BACK_MAX) {
      socket.destroy();
      return;
    }
    this.#heldBack += 1;
    const stop = this.#parts.clock.after(waitMs, () => {
      refuse(socket, refusal);
    });
    socket.once('close', () => {
      stop();
      this.#heldBack -= 1;
    });
  }
}

function refuse(socket: Duplex, { status, message }: Refusal): void {
  const body = `${message}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: text/plain',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
