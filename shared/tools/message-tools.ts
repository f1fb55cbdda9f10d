// message.send: a message to another conversation, now or later. Whoever sends it does not wait for an answer.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';
import { durationMs } from './waiting-tools.js';

const TEXT_CHARS_MAX = 100_000;
const AFTER_MAX_MS = 366 * 24 * 60 * 60 * 1_000;

export const messageSendParams = v.pipe(
  v.strictObject({
    to: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(200),
      v.description('root, the id of another thread, or new for a thread of its own'),
    ),
    text: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(TEXT_CHARS_MAX),
      v.description('all that is needed to act on it: the other thread knows nothing of this conversation'),
    ),
    after: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(32),
        v.check(
          (text) => (durationMs(text) ?? AFTER_MAX_MS + 1) <= AFTER_MAX_MS,
          'expected 90s, 10m, 2h, 1d; at most 366d',
        ),
        v.description('deliver it later, after this time: 10m, 2h, 1d'),
      ),
    ),
    at: v.optional(
      v.pipe(
        v.string(),
        v.check((text) => !Number.isNaN(Date.parse(text)), 'expected a time such as 2031-05-01T09:00:00Z'),
        v.description('deliver it at this time instead, as ISO 8601 with its zone'),
      ),
    ),
  }),
  v.check(({ after, at }) => after === undefined || at === undefined, 'give after or at, not both'),
);

export const MESSAGE_SEND = 'message.send';

export const MESSAGE_TOOLS: readonly ToolSpec[] = [
  {
    name: MESSAGE_SEND,
    description:
      'Sends a message to another thread, where it starts a turn of its own, at once or at a later time; this turn goes ' +
      'on without waiting for it. Returns thread_id and turn_id, or deliver_at. Not to the own thread: to go on here ' +
      'later, use sleep.',
    params: messageSendParams,
    action: 'control',
    runs: 'supervisor',
    readOnly: false,
    waits: true,
  },
];
