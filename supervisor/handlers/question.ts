// `question/*`: what turns ask people. An open question is a row; the first answer wins.
import type { JsonValue } from '../../shared/json.js';
import type { Question } from '../../shared/protocol/question.js';
import type { WaitRow } from '../store/rows.js';
import { type HandlerParts, type HandlersOf, Refused } from './ports.js';
import { quoted } from './views.js';

/** The tool that asks a person. */
export const ASK_TOOL = 'ask_human';

export function questionHandlers(parts: HandlerParts): HandlersOf<'question/list' | 'question/answer'> {
  return {
    'question/list': ({ thread_id: threadId }) => ({ questions: questionsOf(parts, threadId ?? null) }),
    'question/answer': ({ question_id: id, answer }, call) => {
      if (answer.trim() === '') throw new Refused('invalid_params', 'the answer is empty');
      if (parts.store.waits.get(id)?.tool !== ASK_TOOL) throw unknownQuestion(id);
      const done = parts.engine.answer(id, answer, call.principal);
      if (done === 'unknown') throw unknownQuestion(id);
      if (done === 'already_answered')
        throw new Refused('question_already_answered', `question ${quoted(id)} has been answered`);
      return { question_id: id, answered: true };
    },
  };
}

function unknownQuestion(id: string): Refused {
  return new Refused('question_not_found', `there is no question ${quoted(id)}`);
}

/** Open ones, oldest first; of all threads when `threadId` is null. */
export function questionsOf(parts: Pick<HandlerParts, 'store'>, threadId: string | null): Question[] {
  return parts.store.waits
    .allOpen()
    .filter((wait) => wait.tool === ASK_TOOL && (threadId === null || wait.thread_id === threadId))
    .map((wait) => questionOf(parts, wait));
}

export function questionOf({ store }: Pick<HandlerParts, 'store'>, wait: WaitRow): Question {
  const { question, choices, options = choices } = wait.subject;
  return {
    question_id: wait.wait_id,
    workspace_id: store.threads.get(wait.thread_id)?.workspace_id ?? '',
    thread_id: wait.thread_id,
    turn_id: wait.turn_id,
    text: textOf(question),
    options: Array.isArray(options) ? options.map(textOf) : [],
    asked_at_unix_ms: wait.created_at_ms,
    ...(wait.wake_at_ms === null ? {} : { expires_at_unix_ms: wait.wake_at_ms }),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}
