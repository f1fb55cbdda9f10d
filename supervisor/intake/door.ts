// Every producer of messages comes through here: clients, the start of a daemon, turns that write to other threads, and
// timers. What was accepted is told onward once it is durable, and not before.
import type { Clock } from '../../shared/clock.js';
import type { Store, TimerRow } from '../store/types.js';
import { type Accepted, acceptInside, acceptMessage, type IncomingMessage } from './accept-message.js';
import type { DoorRules, Refusal } from './door-rules.js';

export interface DoorParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly rules: DoorRules;
  /** A new message is in, and durable. */
  accepted(accepted: Accepted): void;
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
  acceptInside(message: IncomingMessage): Accepted | Refusal {
    const { store, clock, rules } = this.#parts;
    const answer = acceptInside(store, clock.now(), message, rules);
    if (!answer.ok) return this.#told(message, answer);
    setImmediate(() => {
      if (store.turns.get(answer.turnId) !== undefined) this.#told(message, answer);
    });
    return answer;
  }

  /** Inside a transaction of the caller: a message for later. */
  scheduleInside(row: TimerRow): void {
    this.#parts.store.timers.insert(row);
    setImmediate(() => this.arm());
  }

  /** Delivers what is due and waits for what is next. Also at the start: time went on meanwhile. */
  arm(): void {
    this.#cancelTimer();
    if (this.#closed) return;
    const { store, clock } = this.#parts;
    let retry = false;
    for (const row of store.timers.due(clock.now())) retry = !this.#fire(row) || retry;
    const nextMs = store.timers.nextDueMs();
    if (nextMs === null) return;
    const leftMs = retry ? RETRY_MS : Math.max(0, nextMs - clock.now());
    this.#cancelTimer = clock.after(Math.min(leftMs, LOOK_MS), () => this.arm());
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  /** False when it has to be tried again. */
  #fire(row: TimerRow): boolean {
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
    const answer = store.transact('fire_timer', () => {
      const given = acceptInside(store, clock.now(), message, rules);
      if (given.ok || given.code !== 'queue_full') store.timers.remove(row.timer_id);
      return given;
    });
    this.#told(message, answer);
    return answer.ok || answer.code !== 'queue_full';
  }

  #told(message: IncomingMessage, answer: Accepted | Refusal): Accepted | Refusal {
    if (!answer.ok) this.#parts.refused(message, answer);
    else if (!answer.repeated) this.#parts.accepted(answer);
    return answer;
  }
}
