// What a daemon keeps, read beside it, and a model that answers each message with itself.
import type { JsonObject } from '../../shared/json.js';
import { openReader } from '../../supervisor/store/open.js';
import type { EventRow, TurnRow } from '../../supervisor/store/rows.js';
import type { FakeRequest, FakeStep } from './model-steps.js';
import { eventually } from './processes.js';

interface Said {
  readonly role: string;
  readonly content: string;
}

/** The message that a request is about. */
export function asked({ body }: FakeRequest): string {
  const messages = (body as JsonObject)['messages'] as unknown as Said[];
  return messages.findLast(({ role, content }) => role === 'user' && !content.startsWith('['))?.content ?? '';
}

/** Answers after a moment, so that turns overlap as much as they may. */
export const echo = (request: FakeRequest): FakeStep => ({ text: `Answer: ${asked(request)}`, delayMs: 20 });

export interface Kept {
  readonly turns: readonly TurnRow[];
  readonly events: ReadonlyMap<string, readonly EventRow[]>;
}

export function kept(stateDir: string): Kept {
  const opened = openReader(stateDir);
  if (!opened.ok) throw new Error(opened.failure.message);
  const { reader } = opened;
  try {
    const turns = reader.threads.list().flatMap(({ thread_id }) => reader.turns.ofThread(thread_id));
    return { turns, events: new Map(turns.map(({ turn_id }) => [turn_id, reader.events.ofTurn(turn_id)])) };
  } finally {
    reader.close();
  }
}

/** True once so many turns are there and all have ended. */
export function allEnded(stateDir: string, count: number): Promise<boolean> {
  return eventually(() => {
    const { turns } = kept(stateDir);
    return turns.length === count && turns.every(({ state }) => state === 'ended');
  }, 120_000);
}
