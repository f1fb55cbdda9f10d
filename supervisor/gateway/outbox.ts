// What goes out to one client, in order and bounded. A client that reads slowly gets its deltas in larger pieces; one that
// does not read is given up before it costs memory.
import { notificationText } from '../../shared/protocol/envelope.js';
import type { Notification } from '../../shared/protocol/notifications.js';

/** A connection, as far as sending goes. */
export interface Wire {
  readonly bufferedAmount: number;
  send(text: string, sent: () => void): void;
}

/** Written once for all who get it. */
export interface Told {
  readonly notification: Notification;
  readonly text: string;
}

export function toldOf(notification: Notification): Told {
  return { notification, text: notificationText(notification.method, notification.params) };
}

type Delta = Extract<Notification, { params: { delta: string } }>;
interface Entry {
  /** Empty once deltas were merged into it: it is written when it goes out. */
  readonly text: string;
  readonly delta: Delta | null;
  /** What it counts for. */
  readonly size: number;
}

/** What the host may hold before we hold back. */
const AHEAD_BYTES = 256 * 1024;
const HELD_BYTES = 8 * 1024 * 1024;

export class Outbox {
  readonly #wire: Wire;
  readonly #overflow: () => void;
  #entries: Entry[] = [];
  #bytes = 0;
  #closed = false;

  /** `overflow` is called once, when the client is too far behind; nothing is sent any more. */
  constructor(wire: Wire, overflow: () => void) {
    this.#wire = wire;
    this.#overflow = overflow;
  }

  answer(text: string): void {
    this.#push({ text, delta: null, size: text.length });
  }

  tell({ notification, text }: Told): void {
    this.#push({ text, delta: isDelta(notification) ? notification : null, size: text.length });
  }

  close(): void {
    this.#closed = true;
    this.#entries = [];
    this.#bytes = 0;
  }

  #push(entry: Entry): void {
    if (this.#closed) return;
    if (this.#entries.length === 0 && this.#wire.bufferedAmount < AHEAD_BYTES) {
      this.#send(entry.text);
      return;
    }
    if (!this.#merge(entry)) {
      this.#entries.push(entry);
      this.#bytes += entry.size;
    }
    if (this.#bytes + this.#wire.bufferedAmount <= HELD_BYTES) return;
    this.close();
    this.#overflow();
  }

  /** A delta that follows a delta of the same item becomes part of it. */
  #merge({ delta }: Entry): boolean {
    const last = this.#entries.at(-1);
    if (delta === null || last === undefined || last.delta === null) return false;
    const before = last.delta;
    if (before.method !== delta.method || before.params.item_id !== delta.params.item_id) return false;
    const merged: Delta = {
      ...delta,
      params: { ...delta.params, delta: before.params.delta + delta.params.delta },
    };
    const size = last.size + delta.params.delta.length;
    this.#entries[this.#entries.length - 1] = { text: '', delta: merged, size };
    this.#bytes += size - last.size;
    return true;
  }

  #send(text: string): void {
    this.#wire.send(text, () => this.#drain());
  }

  #drain(): void {
    while (this.#entries.length > 0 && this.#wire.bufferedAmount < AHEAD_BYTES) {
      const entry = this.#entries.shift();
      if (entry === undefined) return;
      this.#bytes -= entry.size;
      const text =
        entry.text === '' && entry.delta !== null
          ? notificationText(entry.delta.method, entry.delta.params)
          : entry.text;
      this.#send(text);
    }
  }
}

function isDelta(notification: Notification): notification is Delta {
  return 'delta' in notification.params;
}
