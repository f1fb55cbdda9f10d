// Questions that a turn put to a person. They are state, not events: who connects later finds them open.
import * as v from 'valibot';
import { givenId, named, whole } from './named.js';

export const question = named(
  'Question',
  v.object({
    question_id: v.string(),
    workspace_id: v.string(),
    thread_id: v.string(),
    turn_id: v.string(),
    text: v.string(),
    options: v.optional(
      v.pipe(v.array(v.string()), v.description('Answers to choose from; empty when any will do.')),
      [],
    ),
    asked_at_unix_ms: whole,
    expires_at_unix_ms: v.nullish(whole),
  }),
);
export type Question = v.InferOutput<typeof question>;

export const questionListParams = named(
  'QuestionListParams',
  v.object({ thread_id: v.nullish(v.pipe(v.string(), v.description('Only those of one thread.'))) }),
);
export const questionListResponse = named('QuestionListResponse', v.object({ questions: v.array(question) }));

export const questionAnswerParams = named(
  'QuestionAnswerParams',
  v.object({ question_id: givenId, answer: v.string() }),
);
export const questionAnswerResponse = named(
  'QuestionAnswerResponse',
  v.object({ question_id: v.string(), answered: v.literal(true) }),
);
