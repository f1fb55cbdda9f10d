// A person answers a question of a turn: the first answer counts, whether the turn has a worker or is parked.
import type { JsonValue } from '../../shared/json.js';
import type { Store } from '../store/types.js';
import { ASK_HUMAN, answerOf } from '../tools/ask-human.js';
import type { Answered, Waits } from './waits.js';

const OPERATOR = 'operator';

/** Somebody who may not see the thread learns nothing of its questions. */
export function answerQuestion(
  store: Store,
  waits: Waits,
  waitId: string,
  reply: JsonValue,
  principal: string,
): Answered {
  const wait = store.waits.get(waitId);
  if (wait === undefined || wait.tool !== ASK_HUMAN) return 'unknown';
  const owner = store.threads.get(wait.thread_id)?.owner;
  if (principal !== OPERATOR && principal !== owner) return 'unknown';
  return waits.answer(waitId, answerOf(reply));
}
