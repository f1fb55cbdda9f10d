// One client: its frames in, its answers and notifications out, and the signs that it is still there. What a client does
// wrong ends in an error for that client, or in the end of its connection; nobody else notices.
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../shared/clock.js';
import type { Notification } from '../../shared/protocol/notifications.js';
import type { Broadcaster, Subscriber } from './broadcaster.js';
import { Outbox, type Told, toldOf } from './outbox.js';
import { parseRequest } from './parse-request.js';
import type { Asker, Router } from './router.js';

export interface ConnectionParts {
  readonly router: Router;
  readonly broadcaster: Broadcaster;
  readonly clock: Clock;
  /** Between two pings; two that nobody answered end the connection. */
  readonly pingMs: number;
  /** Told of a client that does not read. */
  readonly slow: () => void;
}

const IN_FLIGHT_MAX = 64;
const CLOSE_SLOW = 4008;
const CLOSE_GOING = 1001;
/** Whoever does not answer a close within it is cut off. */
const CLOSE_MS = 1_000;
const MISSES_MAX = 2;

export class Connection implements Subscriber, Asker {
  readonly principal: string;
  /** Resolves when the connection is closed. */
  readonly gone: Promise<void>;
  readonly #socket: WebSocket;
  readonly #parts: ConnectionParts;
  readonly #outbox: Outbox;
  readonly #inFlight = new Set<string>();
  /** Notifications kept back, and by how many requests. */
  #held: Told[] = [];
  #holds = 0;
  #missed = 0;
  #stopPing: () => void = () => undefined;

  constructor(socket: WebSocket, principal: string, parts: ConnectionParts) {
    this.principal = principal;
    this.#socket = socket;
    this.#parts = parts;
    const wire = {
      get bufferedAmount() {
        return socket.bufferedAmount;
      },
      send: (text: string, sent: () => void): void => socket.send(text, sent),
    };
    this.#outbox = new Outbox(wire, () => {
      parts.slow();
      this.#end(CLOSE_SLOW, 'too slow');
    });
    socket.on('message', (data, binary) => {
      // Binary frames carry voice and uploads; none is open, so there is nothing to add them to.
      if (!binary) this.#frame(data);
    });
    socket.on('pong', () => {
      this.#missed = 0;
    });
    // What is wrong with a frame closes the connection with its own code; the event is for nobody else.
    socket.on('error', () => undefined);
    this.gone = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('close', () => {
      this.#stopPing();
      this.#outbox.close();
      parts.broadcaster.leave(this);
    });
    this.#ping();
  }

  tell = (told: Told | Notification): void => {
    const whole = 'text' in told ? told : toldOf(told);
    if (this.#holds > 0) this.#held.push(whole);
    else this.#outbox.tell(whole);
  };

  subscribe = (threadId: string): boolean => this.#parts.broadcaster.subscribe(threadId, this);

  unsubscribe = (threadId: string): boolean => this.#parts.broadcaster.unsubscribe(threadId, this);

  hold(): () => void {
    this.#holds += 1;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#holds -= 1;
      if (this.#holds > 0) return;
      for (const told of this.#held.splice(0)) this.#outbox.tell(told);
    };
  }

  answer(text: string): void {
    this.#outbox.answer(text);
  }

  goAway(): void {
    this.#end(CLOSE_GOING, 'the daemon ends');
  }

  #frame(data: RawData): void {
    const text = Array.isArray(data) ? Buffer.concat(data).toString() : data.toString();
    const parsed = parseRequest(text);
    const { router } = this.#parts;
    if (!parsed.ok) {
      router.refuse(parsed.id, parsed.failure, this);
      return;
    }
    const { id } = parsed.request;
    if (this.#inFlight.has(id)) {
      const message = 'a request with this id has not been answered yet';
      router.refuse(id, { code: 'invalid_request', message }, this);
      return;
    }
    if (this.#inFlight.size >= IN_FLIGHT_MAX) {
      const message = `${IN_FLIGHT_MAX} requests of this connection have not been answered yet`;
      router.refuse(id, { code: 'too_many_requests', message }, this);
      return;
    }
    this.#inFlight.add(id);
    router.handle(parsed.request, this, () => this.#inFlight.delete(id));
  }

  #ping(): void {
    this.#stopPing = this.#parts.clock.after(this.#parts.pingMs, () => {
      if (this.#missed >= MISSES_MAX) {
        this.#socket.terminate();
        return;
      }
      this.#missed += 1;
      this.#socket.ping();
      this.#ping();
    });
  }

  #end(code: number, reason: string): void {
    this.#outbox.close();
    this.#socket.close(code, reason);
    const stop = this.#parts.clock.after(CLOSE_MS, () => this.#socket.terminate());
    this.#socket.once('close', stop);
  }
}
