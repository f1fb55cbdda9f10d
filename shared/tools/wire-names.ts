// Tool names as providers take them: `[A-Za-z0-9_-]{1,64}`. The name on the wire depends on the name itself and on
// whether another one collides with it, never on the order of the tools, so it is the same in every turn.
import { createHash } from 'node:crypto';

const LONGEST = 64;
const HASH_LENGTH = 8;

/** Letters, digits, `_` and `-` stay, everything else becomes `_`. May be longer than a provider takes, and may be empty. */
function cleaned(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, '_');
}

/**
 * Name → wire name for a set of tools; unique both ways. A name that is cut, or that would equal another one, ends in
 * a hash of itself; one that is valid as it is keeps it. An empty name has no wire name and is left out.
 */
export function wireNames(names: readonly string[]): Map<string, string> {
  const distinct = [...new Set(names)].filter((name) => name !== '');
  const sharers = new Map<string, number>();
  for (const name of distinct) sharers.set(cleaned(name), (sharers.get(cleaned(name)) ?? 0) + 1);
  const wires = new Map<string, string>();
  const taken = new Set(distinct.filter((name) => isPlain(name)));
  for (const name of [...distinct].sort()) {
    const base = cleaned(name);
    if (isPlain(name)) {
      wires.set(name, name);
      continue;
    }
    const clear = base.length <= LONGEST && sharers.get(base) === 1 && /[A-Za-z0-9]/.test(base);
    const wire = clear && !taken.has(base) ? base : hashed(name, base, taken);
    taken.add(wire);
    wires.set(name, wire);
  }
  return wires;
}

/** A valid wire name for a name that is not in any plan, such as one that a model made up. */
export function strayWireName(name: string): string {
  return isPlain(name) ? name : (wireNames([name]).get(name) ?? 'unknown');
}

function isPlain(name: string): boolean {
  return name.length <= LONGEST && /^[A-Za-z0-9_-]*[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name);
}

function hashed(name: string, base: string, taken: ReadonlySet<string>): string {
  const digest = createHash('sha256').update(name).digest('hex');
  for (let length = HASH_LENGTH; length < digest.length; length += HASH_LENGTH) {
    const wire = `${base.slice(0, LONGEST - length - 1)}_${digest.slice(0, length)}`;
    if (!taken.has(wire)) return wire;
  }
  return digest.slice(0, LONGEST);
}
