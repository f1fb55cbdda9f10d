// Measures how short disk and memory are: when a turn wants to start, at most every two seconds, and on a timer only
// while something is short. Tells of each change of the level.
import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../shared/clock.js';
import { ownCgroup } from '../processes/cgroup.js';
import { type Measured, type Pressure, pressureOf } from './pressure.js';

const LOOK_MS = 2_000;

export interface PressureParts {
  readonly clock: Clock;
  measure(): Measured;
  readonly minFreeBytes: number;
  changed(pressure: Pressure): void;
}

export class PressureWatch {
  readonly #parts: PressureParts;
  #pressure: Pressure = { level: 'ok', why: '' };
  #measuredAtMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | null = null;

  constructor(parts: PressureParts) {
    this.#parts = parts;
  }

  /** As it is now, or was a moment ago. */
  get level(): Pressure['level'] {
    return this.#pressure.level;
  }

  /** Asked before a turn starts; `relieved` is called once when that changes from yes to no. */
  shedding(relieved: () => void): boolean {
    const { clock } = this.#parts;
    if (clock.monotonic() - this.#measuredAtMs >= LOOK_MS) this.#look();
    if (this.#pressure.level !== 'shed') return false;
    this.#cancelTimer ??= clock.after(LOOK_MS, () => {
      this.#cancelTimer = null;
      if (!this.shedding(relieved)) relieved();
    });
    return true;
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #look(): void {
    const { clock, measure, minFreeBytes, changed } = this.#parts;
    const before = this.#pressure.level;
    this.#measuredAtMs = clock.monotonic();
    this.#pressure = pressureOf(measure(), minFreeBytes);
    if (this.#pressure.level !== before) changed(this.#pressure);
  }
}

/** What the disk of `dir` and the own control group say. What cannot be read is not known. */
export function measureAt(dir: string): () => Measured {
  const cgroup = ownCgroup();
  const memory = (file: string): number | null => (cgroup === null ? null : numberIn(join(cgroup, file)));
  return () => ({
    freeBytes: freeBytes(dir),
    memoryBytes: memory('memory.current'),
    memoryHighBytes: memory('memory.high'),
  });
}

function freeBytes(dir: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Null for `max`, which is no number. */
function numberIn(file: string): number | null {
  try {
    const text = readFileSync(file, 'latin1').trim();
    return /^\d+$/.test(text) ? Number(text) : null;
  } catch {
    return null;
  }
}
