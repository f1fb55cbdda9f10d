// Chance that is the same in every run: a failure names its seed, and the seed brings it back.

/** A whole number from 0 up to, not including, `below`. */
export type Chance = (below: number) => number;

/** Small and fast; seeds that lie side by side give unrelated sequences. */
export function seeded(seed: number): Chance {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

export function oneOf<T>(chance: Chance, items: readonly T[]): T {
  return items[chance(items.length)] as T;
}
