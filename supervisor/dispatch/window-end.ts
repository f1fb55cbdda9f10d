// How a window of a turn ends in the store, and who is told: the turn is settled, or it is put back into the queue.
import type { Failure } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { EndReason } from '../../shared/outcome.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { type RunningTurn, unwrittenOf } from '../tools/running-turn.js';
import { requeueInside, type WindowEnd } from './requeue.js';
import type { RunnerParts } from './runner-parts.js';
import { type Ending, settle } from './settle.js';
import { unrecorded } from './turn-evidence.js';

/** `running` is null when no worker had the turn. */
export function putBack(
  parts: RunnerParts,
  turnId: string,
  running: RunningTurn | null,
  end: WindowEnd,
): void {
  const { store, governor, clock, live, waits } = parts;
  const before = running === null ? null : unwrittenOf(running);
  const events = store.transact('requeue_turn', () => {
    before?.inside();
    if (running === null) governor.release(turnId);
    return requeueInside(store, governor, turnId, end, clock.now());
  });
  if (running !== null) close(running);
  waits.detach(turnId);
  before?.after();
  for (const event of events) live(turnId, { type: 'journal', event });
}

/** Null when the turn had ended before. `running` is null when no worker has it, or has it any more. */
export function settleTurn(
  parts: RunnerParts,
  turnId: string,
  running: RunningTurn | null,
  ending: Ending,
): TurnRow | null {
  const { store, governor, clock, live, waits } = parts;
  const tell = (event: JournalEvent): void => live(turnId, { type: 'journal', event });
  const before = running === null ? undefined : unwrittenOf(running);
  const first = settle(store, governor, turnId, ending, clock.now(), tell, before);
  if (!first) return null;
  if (running !== null) close(running);
  waits.withdraw(turnId);
  const row = store.turns.get(turnId);
  if (row === undefined) throw new TypeError('a settled turn has a row');
  parts.log('turn.settled', { turn_id: turnId, status: row.status, error_code: row.error_code });
  return row;
}

/** A message that was answered without a worker; the thread remembers the answer like any other. */
export function settleAnswered(
  parts: RunnerParts,
  turnId: string,
  threadId: string,
  reply: string,
): TurnRow | null {
  const { store, governor, clock, live, waits, masker } = parts;
  const now = clock.now();
  const text = masker.kept(reply);
  const said: JournalEvent = {
    ...{ kind: 'assistant_message', item_id: newId('item', now), round: 0, text },
    ...{ calls: [], stop: 'stop', model: '' },
  };
  const tell = (event: JournalEvent): void => live(turnId, { type: 'journal', event });
  const ending: Ending = {
    ...{ status: 'completed', reply: text, error: null },
    ...{ rounds: 0, toolCalls: 0, lostCall: null },
  };
  const before = {
    inside: () => void store.events.append(turnId, threadId, said, now),
    after: () => tell(said),
  };
  if (!settle(store, governor, turnId, ending, now, tell, before)) return null;
  waits.withdraw(turnId);
  parts.log('turn.settled', { turn_id: turnId, status: 'completed', error_code: null });
  return store.turns.get(turnId) ?? null;
}

/** Writes down that the turn is to end; or why that could not be written. */
export function stopInStore(store: Store, turnId: string, reason: EndReason): Failure | null {
  const row = store.turns.get(turnId);
  try {
    store.transact('request_end', () =>
      store.turns.transition(turnId, 'stop', { end_requested: row?.end_requested ?? reason }),
    );
    return null;
  } catch (error) {
    return unrecorded(error);
  }
}

/** From here on nothing of its worker is heard. */
function close(running: RunningTurn): void {
  running.ending = true;
  running.closed = true;
}
