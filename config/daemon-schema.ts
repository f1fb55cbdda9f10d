// The part of the configuration that only a daemon uses, or that says how much work may wait for its turn.
import * as v from 'valibot';
import { count, duration, group, list, optional, size, text } from './leaf.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const KB = 1024;
const GB = 1024 * 1024 * KB;

export const startPrompt = optional(
  text('A first message to the root thread, each time a daemon starts. A job has its own: `--prompt`.', {
    max: 256 * KB,
  }),
);

/** What may wake the agent. */
const WAKING = ['message'] as const;

export const wakeOn = list(
  'What starts a turn at once: `message`, one that a turn sent to another thread. Else it is a note for the next turn.',
  v.picklist(WAKING, `expected ${WAKING.join(', ')}`),
);

export const laneAge = duration(
  'Work in the background goes behind messages of people until it has waited this long.',
  { min: 0, max: HOUR },
);

export const parkAfter = duration(
  'How long a turn that waits for a person, a time or another turn keeps its worker and its place.',
  { min: 0, max: HOUR },
);

export const lifecycle = group('How a daemon ends.', {
  drain_timeout: duration('Time that turns at work get to finish. What is left goes on at the next start.', {
    min: 0,
    max: HOUR,
  }),
});

export const queue = group('Messages that may wait for their turn. More are refused, in words that say so.', {
  per_principal: count('Of one sender.', { min: 1, max: 1_000_000 }),
  total: count('In all.', { min: 1, max: 1_000_000 }),
});

export const messageDepth = count('Messages that turns send to other threads, one because of the other.', {
  min: 0,
  max: 1_000,
});

export const minFree = size(
  'Free space below which no turn starts; below twice as much a line is logged. 0 looks at nothing.',
  { min: 0, max: 1024 * GB },
);
