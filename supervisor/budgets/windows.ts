// The arithmetic of caps: which window it is, whether one more call fits into it, and when it would. Pure: no clock, no
// store. Windows are fixed and start at whole units of UTC, so that everybody can say when one ends.
import type { Held } from '../store/rows.js';

export type Per = 'second' | 'minute' | 'hour' | 'day' | 'week';

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
const LENGTH: Readonly<Record<Per, number>> = {
  second: SECOND,
  minute: 60 * SECOND,
  hour: 3_600 * SECOND,
  day: DAY,
  week: 7 * DAY,
};
/** The first day of the epoch was a Thursday; weeks start on Monday. */
const FIRST_MONDAY = 4 * DAY;

export interface Span {
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

/** The window around a time. `resetMs` is the time of day at which days and weeks start. */
export function windowAt(per: Per, resetMs: number, nowMs: number): Span {
  const length = LENGTH[per];
  const offset = resetMs + (per === 'week' ? FIRST_MONDAY : 0);
  const startsAtMs = Math.floor((nowMs - offset) / length) * length + offset;
  return { startsAtMs, endsAtMs: startsAtMs + length };
}

/** `04:30Z` in milliseconds; null is midnight. */
export function resetOf(text: string | null): number {
  const [, hours, minutes] = /^(\d\d):(\d\d)Z$/.exec(text ?? '') ?? [];
  return (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 * SECOND;
}

/** What may be spent; null caps nothing. */
export interface Caps {
  readonly tokens: number | null;
  readonly requests: number | null;
  readonly cost_micros: number | null;
}

export type Dimension = keyof Caps;
export const DIMENSIONS: readonly Dimension[] = ['tokens', 'requests', 'cost_micros'];

export interface Books {
  readonly spent: Held;
  /** Held back by others. */
  readonly held: Held;
}

/** An empty window takes one call of any size: a cap below the size of a call would otherwise be a wait for ever. */
function fits(cap: number, before: number, ask: number): boolean {
  return before === 0 || before + ask <= cap;
}

/** What has no room for a call; `held` when there will be as soon as others turn out to need less. */
export interface Lack {
  readonly dimension: Dimension;
  readonly why: 'spent' | 'held';
}

export function lackOf(caps: Caps, { spent, held }: Books, ask: Held): Lack | null {
  let lack: Lack | null = null;
  for (const dimension of DIMENSIONS) {
    const cap = caps[dimension];
    if (cap === null || fits(cap, spent[dimension] + held[dimension], ask[dimension])) continue;
    if (!fits(cap, spent[dimension], ask[dimension])) return { dimension, why: 'spent' };
    lack ??= { dimension, why: 'held' };
  }
  return lack;
}

/** A pace lets this share of a cap go ahead of time, so that a first call need not wait. */
const BURST = 0.05;
/** Part of a millisecond that fractions may be off by. */
const ROUNDING = 0.001;

/** When a paced window has room for the call: `factor` of its even rate. At or before `nowMs` means at once. */
export function pacedAtMs(caps: Caps, { spent, held }: Books, ask: Held, span: Span, factor: number): number {
  let atMs = span.startsAtMs;
  for (const dimension of DIMENSIONS) {
    const cap = caps[dimension];
    const before = spent[dimension] + held[dimension];
    if (cap === null || before === 0) continue;
    const share = ((before + ask[dimension]) / cap - BURST) / factor;
    atMs = Math.max(atMs, span.startsAtMs + Math.ceil(share * (span.endsAtMs - span.startsAtMs) - ROUNDING));
  }
  return Math.min(atMs, span.endsAtMs);
}
