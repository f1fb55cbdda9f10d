// Decides what follows a failed attempt. Pure: the caller waits, tells and tries again.
import type { ErrorCode } from '../../shared/errors.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { CallFailure } from './refusals.js';

const BASE_MS = 500;
const CEILING_MS = 30_000;

export type NextStep =
  | { readonly kind: 'drop_option'; readonly option: string }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'give_up'; readonly code: ErrorCode; readonly message: string };

interface Attempts {
  /** Retries made so far; options dropped do not count. */
  readonly retried: number;
  /** What is left of the call's deadline. */
  readonly leftMs: number;
  /** Wall time, to say when to come back. */
  readonly nowMs: number;
  /** A fraction in [0, 1). */
  readonly random: number;
}

/** Milliseconds to wait, from either form of `Retry-After`; null when it says nothing usable. A past date is 0. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? '';
  if (text === '') return null;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000);
  // A bare number that is no count of seconds would be read as a year.
  const date = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

function waitMs(failure: CallFailure, attempts: Attempts): number {
  const backoff = Math.min(CEILING_MS, BASE_MS * 2 ** attempts.retried) * (0.5 + attempts.random / 2);
  // Never before the time that was asked for; the jitter on top keeps a crowd from coming back as one.
  return Math.round(failure.retryAfterMs ? failure.retryAfterMs + backoff / 4 : backoff);
}

function inWords(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 120) return `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

export function nextStep(failure: CallFailure, settings: ModelSettings, attempts: Attempts): NextStep {
  if (failure.option !== null) return { kind: 'drop_option', option: failure.option };
  const giveUp = (code: ErrorCode, addition: string): NextStep => ({
    kind: 'give_up',
    code,
    message: `${failure.message}${addition}`,
  });
  if (!failure.retry) return giveUp(failure.code, '');
  const askedMs = failure.retryAfterMs ?? 0;
  if (askedMs > settings.retry_after_max_ms) {
    // A date that no calendar holds would throw.
    const at = Math.min(attempts.nowMs + askedMs, 8.64e15);
    return giveUp(
      'model_rate_limited',
      `; it asks to come back in ${inWords(askedMs)}, at ${new Date(at).toISOString()}`,
    );
  }
  if (attempts.retried >= settings.retries)
    return giveUp(failure.code, attempts.retried === 0 ? '' : `; tried ${attempts.retried + 1} times`);
  const delayMs = waitMs(failure, attempts);
  if (delayMs >= attempts.leftMs)
    return giveUp(failure.code, '; the deadline leaves no time for another try');
  return { kind: 'retry', delayMs };
}
