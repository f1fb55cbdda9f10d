// The turns in flight and the slots that they take. A turn that waits for its subagents lends them its slot, one at a time:
// so they run however full the house is, and no chain of turns that wait for each other can stand still.
import type { Waiting } from './gate.js';
import type { Flight } from './runner-parts.js';

export class Slots {
  readonly #lends: (turnId: string) => boolean;
  readonly #flights = new Map<string, Flight>();
  /** How many of the turns in flight each turn asked for. */
  readonly #below = new Map<string, number>();

  /** `lends`: the turn waits for turns that may run in its place. */
  constructor(lends: (turnId: string) => boolean) {
    this.#lends = lends;
  }

  get size(): number {
    return this.#flights.size;
  }

  get flights(): readonly Flight[] {
    return [...this.#flights.values()];
  }

  get(turnId: string): Flight | undefined {
    return this.#flights.get(turnId);
  }

  has(turnId: string): boolean {
    return this.#flights.has(turnId);
  }

  add(turn: Waiting, flight: Flight): void {
    this.#flights.set(turn.turnId, flight);
    this.#countBelow(turn, 1);
  }

  remove(turn: Waiting): void {
    if (this.#flights.delete(turn.turnId)) this.#countBelow(turn, -1);
  }

  /** A lent slot counts once, for the turn that runs in it. */
  get taken(): number {
    let taken = this.#flights.size;
    for (const parentId of this.#below.keys())
      if (this.#flights.has(parentId) && this.#lends(parentId)) taken -= 1;
    return taken;
  }

  /** Turns whose slot is to be had for one that they asked for. */
  get onOffer(): string[] {
    return [...this.#flights.keys()].filter((turnId) => !this.#below.has(turnId) && this.#lends(turnId));
  }

  #countBelow({ parentTurnId }: Waiting, by: 1 | -1): void {
    if (parentTurnId === undefined) return;
    const count = (this.#below.get(parentTurnId) ?? 0) + by;
    if (count === 0) this.#below.delete(parentTurnId);
    else this.#below.set(parentTurnId, count);
  }
}
