// Every producer of messages comes through here: clients, the start of a daemon, turns that write to other threads, and
// timers. What was accepted is told onward once it is durable, and not before.
import type { Clock } from '../../shared/clock.js';
import type { TimerRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { type Accepted, acceptInside, acceptMessage, type IncomingMessage } from './accept-message.js';
import type { Refusal } from './door-rules.js';
import { type Delivery, deliverInside, type MailRules, type Noted, scheduleInside } from './mail.js';

export interface DoorParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly rules: MailRules;
  /** Somebody is there to deliver what is due; in a job nobody is. */
  readonly keepsTime: boolean;
  /** A new message is in, and durable. */
  accepted(accepted: Accepted): void;
  /** A message stays a note. */
  noted(noted: Noted): void;
  refused(message: IncomingMessage, refusal: Refusal): void;
}

/** A clock may be set, and a machine may sleep: the time is looked at this often. */
const LOOK_MS = 60_000;
/** A delivery that found the queue full is tried again. */
const RETRY_MS = 30_000;

export class Door {
  readonly #parts: DoorParts;
  #cancelTimer: () => void = () => undefined;
  #closed = false;

  constructor(parts: DoorParts) {
    this.#parts = parts;
  }

  accept(message: IncomingMessage): Accepted | Refusal {
    const { store, clock, rules } = this.#parts;
    return this.#told(message, acceptMessage(store, clock.now(), message, rules));
  }

  /** Inside a transaction of the caller; told onward when that has committed, and forgotten when it has not. */
  deliverInside(message: IncomingMessage): Delivery {
    const { store, clock, rules } = this.#parts;
    return this.#toldLater(message, deliverInside(store, clock.now(), message, rules));
  }

  /** The same for a message that always starts a turn. */
  acceptInside(message: IncomingMessage): Accepted | Refusal {
    const { store, clock, rules } = this.#parts;
    return this.#toldLater(message, acceptInside(store, clock.now(), message, rules));
  }

  /** Inside a transaction of the caller: kept for later, or why not. */
  scheduleInside(letter: Omit<TimerRow, 'timer_id' | 'created_at_ms'>): Refusal | null {
    const { store, clock, rules } = this.#parts;
    const refusal = scheduleInside(store, clock.now(), letter, rules);
    if (refusal === null) setImmediate(() => this.arm());
    return refusal;
  }

  /** Delivers what is due and waits for what is next. Also at the start: time went on meanwhile. */
  arm(): void {
    this.#cancelTimer();
    if (this.#closed || !this.#parts.keepsTime) return;
    const { store, clock } = this.#parts;
    for (const row of store.timers.due(clock.now())) this.#fire(row);
    const nextMs = store.timers.nextDueMs();
    if (nextMs === null) return;
    const leftMs = Math.max(0, nextMs - clock.now());
    this.#cancelTimer = clock.after(Math.min(leftMs, LOOK_MS), () => this.arm());
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  #fire(row: TimerRow): void {
    const { store, clock, rules } = this.#parts;
    const message: IncomingMessage = {
      threadId: row.thread_id,
      workspaceRoot: store.workspaces.get(row.workspace_id)?.root ?? '/',
      principal: row.principal,
      text: row.text,
      producer: 'timer',
      eventId: row.timer_id,
      hop: row.hop,
    };
    const delivery = store.transact('fire_timer', () => {
      const now = clock.now();
      const given = deliverInside(store, now, message, rules);
      store.timers.remove(row.timer_id);
      // The queue empties by itself; every other refusal stays one.
      if (!given.ok && given.code === 'queue_full')
        store.timers.insert({ ...row, due_at_ms: now + RETRY_MS });
      return given;
    });
    this.#told(message, delivery);
  }

  #toldLater<Given extends Delivery>(message: IncomingMessage, given: Given): Given {
    const delivery: Delivery = given;
    setImmediate(() => {
      if (this.#closed) return;
      const turnId = 'turnId' in delivery ? delivery.turnId : null;
      if (turnId === null || this.#parts.store.turns.get(turnId) !== undefined) this.#told(message, delivery);
    });
    return given;
  }

  #told<Given extends Delivery>(message: IncomingMessage, given: Given): Given {
    const delivery: Delivery = given;
    if (!delivery.ok) this.#parts.refused(message, delivery);
    else if ('noted' in delivery) this.#parts.noted(delivery);
    else if (!delivery.repeated) this.#parts.accepted(delivery);
    return given;
  }
}
