// Reads a turn's journal back as the story that its clients were told.
import { payloadOf } from '../../shared/protocol/step-notification.js';
import type { ThreadHistoryEvent } from '../../shared/protocol/thread.js';
import { sequenceOf, TurnStory } from '../../shared/protocol/turn-story.js';
import type { TurnRow } from '../store/rows.js';
import type { HandlerParts } from './ports.js';
import { factsOf, seconds } from './views.js';

type Replayed = Omit<ThreadHistoryEvent, 'turn_id'>;

export function replay(
  parts: Pick<HandlerParts, 'store' | 'defaultMode'>,
  turn: TurnRow,
  workspaceId: string,
): Replayed[] {
  const story = new TurnStory(factsOf(turn, parts));
  const address = { workspace_id: workspaceId, thread_id: turn.thread_id, turn_id: turn.turn_id };
  return parts.store.events.ofTurn(turn.turn_id).flatMap(({ seq, at_ms: atMs, event }) =>
    story.told({ type: 'journal', event }, atMs).flatMap((step) => {
      const payload = payloadOf(address, step);
      return payload === null
        ? []
        : [{ sequence: sequenceOf(step, seq), created_at: seconds(atMs), payload }];
    }),
  );
}
