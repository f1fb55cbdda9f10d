// A turn on the stage that asks a person, and what becomes of its calls.
import type { JournalEvent } from '../../shared/journal.js';
import { answerQuestion } from '../../supervisor/dispatch/answer-question.js';
import { assistant, request, type Stage, settleDown, worker } from './dispatch-stage.js';

export const ASK = { question: 'Which colour?' };

/** A turn whose only call asks a person. */
export async function asking(
  s: Stage,
  thread = 'root',
  index = 0,
  call = 'call_1',
): Promise<{ id: string; w: Awaited<ReturnType<typeof worker>> }> {
  const id = s.accept('hello', thread);
  const w = await worker(s, index);
  w.say(assistant([{ call_id: call, name: 'ask_human', arguments: ASK }]));
  w.say(request(1, call, 'ask_human', ASK));
  await settleDown();
  return { id, w };
}

export function resultsOf(s: Stage, turnId: string): Extract<JournalEvent, { kind: 'tool_result' }>[] {
  return s.store.events.ofTurn(turnId).flatMap(({ event }) => (event.kind === 'tool_result' ? [event] : []));
}

export function answer(s: Stage, id: string, reply = 'green', principal = 'operator'): string {
  return answerQuestion(s.store, s.waits, id, reply, principal);
}
