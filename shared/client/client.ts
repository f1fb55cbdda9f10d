// A typed client of the protocol: requests by the names of the table, notifications as a union. One connection; whoever
// loses it connects again and reads what was missed.
import WebSocket from 'ws';
import {
  type ErrorResponse,
  type NotificationEnvelope,
  REQUEST_ID_LENGTH,
  type Response,
  requestText,
} from '../protocol/envelope.js';
import type { Method, ParamsGiven, Result } from '../protocol/methods.js';
import type { Notification } from '../protocol/notifications.js';
import { CannotConnect, ConnectionLost, RequestFailed } from './request-failed.js';

export interface ConnectOptions {
  /** `http://127.0.0.1:17878`, as `daemon.json` says it. */
  readonly url: string;
  readonly token: string;
  /** Called with each message as it came, before anything else. */
  readonly observe?: (message: unknown) => void;
}

export interface Client {
  /** Rejects with RequestFailed when the daemon says no, with ConnectionLost when no answer can come any more. */
  call<M extends Method>(method: M, params: ParamsGiven<M>): Promise<Result<M>>;
  /** In the order of their arrival. Returns how to stop listening. */
  onNotification(listener: (notification: Notification) => void): () => void;
  /** Resolves when the connection is over. */
  readonly closed: Promise<ConnectionLost>;
  close(): void;
}

/** Rejects with CannotConnect. */
export function connect(options: ConnectOptions): Promise<Client> {
  const address = new URL('/ws', options.url);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${options.token}` },
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(new SocketClient(socket, options.observe)));
    socket.once('unexpected-response', (request, response) => {
      const status = response.statusCode ?? 0;
      reject(new CannotConnect(`the daemon at ${options.url} refused the connection (${status})`, status));
      request.destroy();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code ?? error.message;
      reject(new CannotConnect(`the daemon at ${options.url} cannot be reached (${why})`, null));
    });
  });
}

interface Pending {
  resolve(result: never): void;
  reject(error: Error): void;
}

type Incoming = Response | ErrorResponse | NotificationEnvelope;

class SocketClient implements Client {
  readonly closed: Promise<ConnectionLost>;
  readonly #socket: WebSocket;
  readonly #pending = new Map<string, Pending>();
  readonly #listeners = new Set<(notification: Notification) => void>();
  #lastId = 0;
  #lost: ConnectionLost | null = null;

  constructor(socket: WebSocket, observe: (message: unknown) => void = () => undefined) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Incoming;
      observe(message);
      this.#take(message);
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        const lost = new ConnectionLost(code, String(reason));
        this.#lost = lost;
        for (const { reject } of this.#pending.values()) reject(lost);
        this.#pending.clear();
        resolve(lost);
      });
    });
  }

  call<M extends Method>(method: M, params: ParamsGiven<M>): Promise<Result<M>> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    this.#lastId += 1;
    const id = String(this.#lastId).padStart(REQUEST_ID_LENGTH, '0');
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#socket.send(requestText(id, method, params));
    });
  }

  onNotification(listener: (notification: Notification) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#socket.close();
  }

  #take(message: Incoming): void {
    if ('method' in message) {
      for (const listener of [...this.#listeners]) listener(message as unknown as Notification);
      return;
    }
    const pending = this.#pending.get(message.id ?? '');
    if (pending === undefined) return;
    this.#pending.delete(message.id ?? '');
    if ('error' in message) pending.reject(new RequestFailed(message));
    else pending.resolve(message.result as never);
  }
}
