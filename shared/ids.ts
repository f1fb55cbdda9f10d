// Identifiers: opaque strings with a prefix that says what they name. The only module that draws randomness.
// Names are no secrets, so the host's own generator does for them: its crypto module costs a worker a tenth of its start.
import { randomBytes } from 'node:crypto';

/** 26 characters, Crockford base 32: 48 bits of time, 80 bits of randomness; sorts by time of creation. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

const RANDOM_LENGTH = 16;

function encode(value: number, length: number): string {
  let text = '';
  let rest = value;
  for (let index = 0; index < length; index += 1) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function randomText(): string {
  let text = '';
  for (let index = 0; index < RANDOM_LENGTH; index += 1) text += ALPHABET[Math.floor(Math.random() * 32)];
  return text;
}

export type IdKind =
  | 'workspace'
  | 'thread'
  | 'subagent'
  | 'turn'
  | 'event'
  | 'timer'
  | 'item'
  | 'call'
  | 'artifact'
  | 'worker'
  | 'instance'
  | 'incident';

/** A fresh id such as `turn_01j9…`. `now_ms` is wall time; it only makes ids sort by age. */
export function newId(kind: IdKind, nowMs: number): string {
  return `${kind}_${encode(Math.trunc(nowMs), 10)}${randomText()}`;
}

/** A value that nobody can guess, for a token: 43 characters of base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A random fraction in [0, 1) for back-off jitter. */
export function jitter(): number {
  return Math.random();
}

/** What a person or client may use as an id or name of ours: printable, no spaces, at most 200 characters. */
export function isId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}$/.test(text);
}

export const ROOT_THREAD = 'root';
