// The operator's token: made once, kept where only its owner reads it, compared without telling how much of it was right.
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../shared/clock.js';
import { newSecret } from '../../shared/ids.js';

export interface OperatorToken {
  /** Absolute path. */
  readonly file: string;
  readonly value: string;
  is(given: string): boolean;
}

export function operatorToken(stateDir: string): OperatorToken {
  const file = join(stateDir, 'operator.token');
  const value = read(file) ?? make(file);
  const digest = digestOf(value);
  return { file, value, is: (given) => timingSafeEqual(digestOf(given), digest) };
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function make(file: string): string {
  const value = newSecret();
  writeFileSync(file, `${value}\n`, { mode: 0o600 });
  return value;
}

/** Of one length whatever is given, so that a comparison takes one time. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const FREE_TRIES = 5;
const FORGET_MS = 60_000;
const WAIT_MS = 1_000;

/** Wrong tokens are answered slowly once there were several: a guess costs time. */
export class WrongTries {
  readonly #clock: Clock;
  #times: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds to wait before the refusal of this one. */
  waitMs(): number {
    const now = this.#clock.monotonic();
    this.#times = [...this.#times.filter((time) => now - time < FORGET_MS), now].slice(-FREE_TRIES - 1);
    return this.#times.length > FREE_TRIES ? WAIT_MS : 0;
  }
}
