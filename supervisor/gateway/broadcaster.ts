// Tells subscribers of a thread what its turns do. What is journaled is read from the journal, from the place where the
// last telling ended, so nothing is told twice, left out or out of order; progress comes on top as it happens.

import type { Clock } from '../../shared/clock.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { PermissionMode } from '../../shared/policy/permission-mode.js';
import type { Notification } from '../../shared/protocol/notifications.js';
import { notificationOf, type TurnAddress } from '../../shared/protocol/step-notification.js';
import { sequenceOf, TurnStory } from '../../shared/protocol/turn-story.js';
import type { TurnWatch } from '../handlers/ports.js';
import { ASK_TOOL, questionOf } from '../handlers/question.js';
import { factsOf, openTurns } from '../handlers/views.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import type { LiveEvent } from '../tools/running-turn.js';
import { type Told, toldOf } from './outbox.js';

export interface Subscriber {
  tell(told: Told): void;
}

/** A turn that somebody listens to. */
interface Feed {
  readonly address: TurnAddress;
  readonly story: TurnStory;
  /** Position in the journal up to which it was told. */
  told: number;
}

interface Seen {
  readonly threadId: string;
  round: number;
  tool: string | null;
}

interface BroadcasterParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly defaultMode: PermissionMode;
}

const NOTHING_SEEN = { round: 0, tool: null };

export class Broadcaster implements TurnWatch {
  readonly #parts: BroadcasterParts;
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  readonly #feeds = new Map<string, Feed>();
  readonly #seen = new Map<string, Seen>();

  constructor(parts: BroadcasterParts) {
    this.#parts = parts;
  }

  /** False when it listened already. */
  subscribe(threadId: string, subscriber: Subscriber): boolean {
    const listeners = this.#subscribers.get(threadId) ?? new Set();
    if (listeners.has(subscriber)) return false;
    if (listeners.size === 0) this.#open(threadId);
    listeners.add(subscriber);
    this.#subscribers.set(threadId, listeners);
    return true;
  }

  /** False when it did not listen. */
  unsubscribe(threadId: string, subscriber: Subscriber): boolean {
    const listeners = this.#subscribers.get(threadId);
    if (listeners?.delete(subscriber) !== true) return false;
    if (listeners.size > 0) return true;
    this.#subscribers.delete(threadId);
    for (const [turnId, { address }] of this.#feeds)
      if (address.thread_id === threadId) this.#feeds.delete(turnId);
    return true;
  }

  leave(subscriber: Subscriber): void {
    for (const threadId of [...this.#subscribers.keys()]) this.unsubscribe(threadId, subscriber);
  }

  of(turnId: string): { readonly round: number; readonly tool: string | null } {
    return this.#seen.get(turnId) ?? NOTHING_SEEN;
  }

  /** Something happened in a turn. */
  live(turnId: string, event: LiveEvent): void {
    const seen = this.#watch(turnId, event);
    if (seen === undefined || !this.#subscribers.has(seen.threadId)) return;
    const feed = this.#feeds.get(turnId) ?? this.#fresh(turnId);
    if (feed === undefined) return;
    if (event.type === 'journal') this.#tellJournal(feed);
    else
      for (const step of feed.story.told(event, this.#parts.clock.now()))
        this.#send(feed.address.thread_id, notificationOf(feed.address, step));
  }

  /** Turns under way are taken up where they stand: what they did so far is there to be read. */
  #open(threadId: string): void {
    for (const turn of openTurns(this.#parts.store, threadId)) {
      const feed = this.#feed(turn);
      if (feed !== undefined) this.#steps(feed, () => undefined);
    }
  }

  /** A turn that nobody has heard of yet. One that has ended was told to its end: its last events may be written at once. */
  #fresh(turnId: string): Feed | undefined {
    const turn = this.#parts.store.turns.get(turnId);
    return turn === undefined || turn.state === 'ended' ? undefined : this.#feed(turn);
  }

  #feed(turn: TurnRow): Feed | undefined {
    const { turn_id: turnId, thread_id: threadId } = turn;
    const thread = this.#parts.store.threads.get(threadId);
    if (thread === undefined) return undefined;
    const feed: Feed = {
      address: { workspace_id: thread.workspace_id, thread_id: threadId, turn_id: turnId },
      story: new TurnStory(factsOf(turn, this.#parts)),
      told: 0,
    };
    this.#feeds.set(turnId, feed);
    return feed;
  }

  #tellJournal(feed: Feed): void {
    this.#steps(feed, (notification) => this.#send(feed.address.thread_id, notification));
  }

  #steps(feed: Feed, tell: (notification: Notification) => void): void {
    const { address, story } = feed;
    for (const { seq, at_ms: atMs, event } of this.#parts.store.events.ofTurn(address.turn_id, feed.told)) {
      feed.told = seq;
      for (const step of story.told({ type: 'journal', event }, atMs))
        tell(notificationOf(address, step, sequenceOf(step, seq)));
      const question = this.#questionStep(address, event);
      if (question !== null) tell(question);
      if (event.kind === 'turn_ended') this.#feeds.delete(address.turn_id);
    }
  }

  #questionStep(address: TurnAddress, event: JournalEvent): Notification | null {
    if (event.kind === 'tool_intent' && event.tool === ASK_TOOL) {
      const wait = this.#parts.store.waits.get(event.call_id);
      if (wait?.open !== true) return null;
      return { method: 'question/opened', params: { question: questionOf(this.#parts, wait) } };
    }
    if (event.kind === 'tool_result' && event.tool === ASK_TOOL)
      return { method: 'question/closed', params: { ...address, question_id: event.call_id } };
    return null;
  }

  #send(threadId: string, notification: Notification): void {
    const listeners = this.#subscribers.get(threadId);
    if (listeners === undefined) return;
    const told = toldOf(notification);
    for (const listener of [...listeners]) listener.tell(told);
  }

  /** Keeps what `operator/turns` shows; undefined for a turn that nobody knows. */
  #watch(turnId: string, event: LiveEvent): Seen | undefined {
    let seen = this.#seen.get(turnId);
    if (seen === undefined) {
      const turn = this.#parts.store.turns.get(turnId);
      if (turn === undefined) return undefined;
      seen = { threadId: turn.thread_id, ...NOTHING_SEEN };
      // What comes after the end is not kept: nothing would take it away again.
      if (turn.state === 'ended') return seen;
      this.#seen.set(turnId, seen);
    }
    if (event.type === 'progress' && event.progress.event === 'round') seen.round = event.progress.round;
    if (event.type === 'journal') {
      const { kind } = event.event;
      if (kind === 'tool_intent') seen.tool = event.event.tool;
      if (kind === 'tool_result') seen.tool = null;
      if (kind === 'turn_ended') this.#seen.delete(turnId);
    }
    return seen;
  }
}
