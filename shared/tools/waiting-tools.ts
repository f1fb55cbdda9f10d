// Tools whose answer comes later: after a time, when other turns have ended, when a person has answered.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';

const MINUTE_S = 60;
const DAY_S = 24 * 60 * MINUTE_S;
const SLEEP_MAX_S = 7 * DAY_S;
export const AWAIT_DEFAULT_S = 10 * MINUTE_S;
export const ASK_DEFAULT_S = DAY_S;
const WATCHED_MAX = 32;
const QUESTION_CHARS = 2_000;
const OPTIONS_MAX = 16;

const DURATION = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/;
const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: MINUTE_S * 1_000,
  h: 60 * MINUTE_S * 1_000,
  d: DAY_S * 1_000,
};

/** `90s`, `10m`, `1.5h` in milliseconds; null when it is none. */
export function durationMs(text: string): number | null {
  const [, amount, unit = ''] = DURATION.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return amount === undefined || unitMs === undefined ? null : Math.round(Number(amount) * unitMs);
}

const seconds = (most: number, meaning: string) =>
  v.pipe(v.number(), v.minValue(0), v.maxValue(most), v.description(meaning));

export const sleepParams = v.pipe(
  v.strictObject({
    seconds: v.optional(seconds(SLEEP_MAX_S, `at most ${SLEEP_MAX_S}`)),
    duration: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(32),
        v.regex(DURATION, 'expected a duration such as 90s, 10m or 2h'),
        v.description('instead of seconds: 500ms, 90s, 10m, 2h, 1d'),
      ),
    ),
  }),
  v.check(
    ({ seconds: s, duration }) => (s === undefined) !== (duration === undefined),
    'give seconds or duration, one of them',
  ),
  v.check(
    ({ duration }) => duration === undefined || (durationMs(duration) ?? 0) <= SLEEP_MAX_S * 1_000,
    `at most ${SLEEP_MAX_S} seconds`,
  ),
);

const watched = (meaning: string) =>
  v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
      v.maxLength(WATCHED_MAX),
      v.description(meaning),
    ),
  );

export const awaitParams = v.pipe(
  v.strictObject({
    turns: watched('ids of turns that must have ended'),
    threads: watched('ids of threads that must have nothing left to do'),
    until: v.optional(
      v.pipe(
        v.string(),
        v.check((text) => !Number.isNaN(Date.parse(text)), 'expected a time such as 2031-05-01T09:00:00Z'),
        v.description('a time, as ISO 8601 with its zone'),
      ),
    ),
    mode: v.optional(
      v.pipe(v.picklist(['all', 'any']), v.description('whether all of it must hold, or one; default: all')),
    ),
    timeout_s: v.optional(
      seconds(SLEEP_MAX_S, `how long to wait at most; default ${AWAIT_DEFAULT_S}, at most ${SLEEP_MAX_S}`),
    ),
  }),
  v.check(
    ({ turns = [], threads = [], until }) => turns.length + threads.length > 0 || until !== undefined,
    'there is nothing to wait for: give turns, threads or until',
  ),
);

export const askHumanParams = v.strictObject({
  question: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(QUESTION_CHARS),
    v.description('all that somebody needs to answer it, who has not followed this conversation'),
  ),
  options: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
      v.minLength(1),
      v.maxLength(OPTIONS_MAX),
      v.description('answers to choose from; other words may come all the same'),
    ),
  ),
  timeout_s: v.optional(
    seconds(SLEEP_MAX_S, `how long to wait at most; default ${ASK_DEFAULT_S}, at most ${SLEEP_MAX_S}`),
  ),
});

const WAITING = { action: 'control', runs: 'supervisor', readOnly: false, waits: true } as const;

export const WAITING_TOOLS: readonly ToolSpec[] = [
  {
    name: 'sleep',
    description:
      'Waits for a time and returns slept_ms and the time now. It costs nothing while it waits. For things that need ' +
      'time; do not use it to wait for a command (poll that with write_stdin) or for another turn (await).',
    params: sleepParams,
    ...WAITING,
    polls: true,
  },
  {
    name: 'await',
    description:
      'Waits until turns have ended, threads have nothing left to do, or a time has come: all of them, or the first ' +
      'with mode: any. Returns satisfied, and how each turn ended. satisfied is false when the timeout came first.',
    params: awaitParams,
    ...WAITING,
    polls: true,
  },
  {
    name: 'ask_human',
    description:
      'Asks a person and waits for the answer, which may take hours; it costs nothing meanwhile. Returns reply, and ' +
      'timed_out when nobody answered in time. Use it only for what you cannot find out or decide yourself.',
    params: askHumanParams,
    ...WAITING,
  },
];
