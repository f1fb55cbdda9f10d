// Who waits, in memory: one line for each thread, first come first served, and of the lines whose first turn may start
// those that do, in order. To find the next one takes a small part of a millisecond, however many wait. The durable queue is
// the inbox; this is read from it once.
import { strict as assert } from 'node:assert';
import type { Lane } from '../store/rows.js';
import { first, type Standing, type TurnView, type Waiting } from './gate.js';

export interface NewTurn extends Waiting {
  readonly principal: string;
  readonly lane: Lane;
  /** Time that only grows; before the start of this process for what an earlier one left. */
  readonly sinceMs: number;
}

interface Entry extends NewTurn {
  readonly place: number;
  /** It waits for an answer and keeps its thread. */
  parked: boolean;
}

interface ThreadLine {
  readonly threadId: string;
  readonly waiting: Entry[];
  /** The turn that the thread is at work on. */
  busy: Entry | null;
  /** Messages of people in it: who waits behind work in the background pulls it forward. */
  people: number;
  /** As which it may start now. */
  ready: Ready | null;
}

interface Ready extends Standing {
  readonly turn: Entry;
}

/** How far a walk along those that may start has come. */
export interface Walk {
  person: number;
  background: number;
}

export class TurnQueue {
  readonly #laneAgeMs: number;
  readonly #lines = new Map<string, ThreadLine>();
  readonly #entries = new Map<string, Entry>();
  readonly #ofPrincipal = new Map<string, number>();
  readonly #ofParent = new Map<string, Set<Entry>>();
  /** Sorted by place. */
  readonly #ready: Readonly<Record<Lane, Ready[]>> = { person: [], background: [] };
  #places = 0;
  #size = 0;
  #parked = 0;

  constructor(laneAgeMs: number) {
    this.#laneAgeMs = laneAgeMs;
  }

  /** Turns that wait, parked ones included. */
  get size(): number {
    return this.#size;
  }

  get parked(): number {
    return this.#parked;
  }

  waitingOf(principal: string): number {
    return this.#ofPrincipal.get(principal) ?? 0;
  }

  has(turnId: string): boolean {
    return this.#entries.has(turnId);
  }

  /** At the end of its thread's line. */
  add(turn: NewTurn, parked = false): void {
    assert(!this.#entries.has(turn.turnId), `turn ${turn.turnId} waits already`);
    this.#places += 1;
    const entry: Entry = { ...turn, place: this.#places, parked };
    this.#entries.set(turn.turnId, entry);
    this.#know(entry);
    const line = this.#lineOf(turn.threadId);
    line.waiting.push(entry);
    this.#count(line, entry, 1);
    this.#settleLine(line);
  }

  /** The turn goes to work, and its thread with it. */
  start(turnId: string): void {
    const { line, entry } = this.#find(turnId);
    assert(line.busy === null && line.waiting[0] === entry, `turn ${turnId} is not the first of its thread`);
    line.waiting.shift();
    this.#count(line, entry, -1);
    line.busy = entry;
    this.#settleLine(line);
  }

  /** A turn that was at work waits again, before all others of its thread. */
  putBack(turnId: string, parked: boolean): void {
    const { line, entry } = this.#find(turnId);
    assert(line.busy === entry, `turn ${turnId} was not at work`);
    line.busy = null;
    entry.parked = parked;
    line.waiting.unshift(entry);
    this.#count(line, entry, 1);
    this.#settleLine(line);
  }

  /** A parked turn has its answer. */
  unpark(turnId: string): void {
    const entry = this.#entries.get(turnId);
    if (entry === undefined || !entry.parked) return;
    entry.parked = false;
    const line = this.#lineOf(entry.threadId);
    if (line.busy !== entry) this.#parked -= 1;
    this.#settleLine(line);
  }

  /** The turn has ended, at work or before. */
  remove(turnId: string): void {
    if (!this.#entries.has(turnId)) return;
    const { line, entry } = this.#find(turnId);
    this.#entries.delete(turnId);
    this.#forget(entry);
    if (line.busy === entry) line.busy = null;
    else {
      line.waiting.splice(line.waiting.indexOf(entry), 1);
      this.#count(line, entry, -1);
    }
    this.#settleLine(line);
    if (line.busy === null && line.waiting.length === 0) this.#lines.delete(line.threadId);
  }

  viewOf(turnId: string): TurnView {
    const { line, entry } = this.#find(turnId);
    return { parked: entry.parked, behind: line.busy !== null || line.waiting[0] !== entry };
  }

  /** Begins a walk along the turns that may start. */
  walk(): Walk {
    return { person: 0, background: 0 };
  }

  /** The next of them. What is done with those before it meanwhile does no harm. */
  next(walk: Walk, nowMs: number): Waiting | undefined {
    const person = after(this.#ready.person, walk.person);
    const background = after(this.#ready.background, walk.background);
    const ready = first(person, background, nowMs, this.#laneAgeMs);
    if (ready !== undefined) walk[ready.lane] = ready.place;
    return ready?.turn;
  }

  /** Turns that this one asked for and that may start, in order. */
  startableBelow(parentTurnId: string): Waiting[] {
    return [...(this.#ofParent.get(parentTurnId) ?? [])].filter(
      (entry) => this.#lineOf(entry.threadId).ready?.turn === entry,
    );
  }

  *[Symbol.iterator](): IterableIterator<Waiting> {
    for (const line of this.#lines.values()) yield* line.waiting;
  }

  #know(entry: Entry): void {
    const { parentTurnId: parent } = entry;
    if (parent === undefined) return;
    const others = this.#ofParent.get(parent);
    if (others === undefined) this.#ofParent.set(parent, new Set([entry]));
    else others.add(entry);
  }

  #forget(entry: Entry): void {
    const { parentTurnId: parent } = entry;
    const others = parent === undefined ? undefined : this.#ofParent.get(parent);
    if (parent === undefined || others === undefined) return;
    others.delete(entry);
    if (others.size === 0) this.#ofParent.delete(parent);
  }

  #find(turnId: string): { readonly line: ThreadLine; readonly entry: Entry } {
    const entry = this.#entries.get(turnId);
    assert(entry !== undefined, `turn ${turnId} is not in the queue`);
    return { line: this.#lineOf(entry.threadId), entry };
  }

  #lineOf(threadId: string): ThreadLine {
    const known = this.#lines.get(threadId);
    if (known !== undefined) return known;
    const line: ThreadLine = { threadId, waiting: [], busy: null, people: 0, ready: null };
    this.#lines.set(threadId, line);
    return line;
  }

  #count(line: ThreadLine, { principal, lane, parked }: Entry, by: 1 | -1): void {
    this.#size += by;
    if (lane === 'person') line.people += by;
    if (parked) this.#parked += by;
    const left = this.waitingOf(principal) + by;
    if (left === 0) this.#ofPrincipal.delete(principal);
    else this.#ofPrincipal.set(principal, left);
  }

  /** Puts the line where its first turn belongs now. */
  #settleLine(line: ThreadLine): void {
    const { ready: before } = line;
    if (before !== null) {
      const list = this.#ready[before.lane];
      list.splice(indexAfter(list, before.place - 1), 1);
    }
    const turn = line.busy === null ? line.waiting[0] : undefined;
    line.ready = turn === undefined || turn.parked ? null : readyOf(line, turn);
    if (line.ready === null) return;
    const list = this.#ready[line.ready.lane];
    list.splice(indexAfter(list, line.ready.place), 0, line.ready);
  }
}

function readyOf(line: ThreadLine, turn: Entry): Ready {
  const { place, sinceMs } = turn;
  return { turn, place, sinceMs, lane: line.people > 0 ? 'person' : 'background' };
}

function after(list: readonly Ready[], place: number): Ready | undefined {
  return list[indexAfter(list, place)];
}

/** Index of the first that stands behind `place`. */
function indexAfter(list: readonly Ready[], place: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.place ?? 0) > place) high = middle;
    else low = middle + 1;
  }
  return low;
}
