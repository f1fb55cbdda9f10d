// Tools that ask another model: `think` for a thought without tools, `decide` for choices and how sure they are.
import * as v from 'valibot';
import { jsonObject } from '../json.js';
import type { ToolSpec } from './tool-spec.js';

const THOUGHT_CHARS = 64_000;
const QUESTIONS_MAX = 16;
const CHOICES_MAX = 32;

const name = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'expected a name: a letter, then letters, digits, _ -'),
);
const line = v.pipe(v.string(), v.minLength(1), v.maxLength(2_000));

export const thinkParams = v.strictObject({
  prompt: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(THOUGHT_CHARS),
    v.description('everything that is needed to think about it; nothing of this conversation is shown'),
  ),
  output_schema: v.optional(
    v.pipe(jsonObject, v.description('JSON Schema of the answer; left out: the answer is text')),
  ),
});

const choice = v.strictObject({ name, meaning: v.optional(line) });
const question = v.strictObject({
  name,
  question: line,
  choices: v.optional(
    v.pipe(
      v.array(v.union([name, choice])),
      v.minLength(2),
      v.maxLength(CHOICES_MAX),
      v.check((choices) => areDistinct(choices.map(nameOf)), 'two choices have the same name'),
      v.description('names, or names with what they mean; left out: yes or no'),
    ),
  ),
});

export const decideParams = v.strictObject({
  situation: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(THOUGHT_CHARS),
    v.description('what the questions are about; nothing of this conversation is shown'),
  ),
  questions: v.pipe(
    v.array(question),
    v.minLength(1),
    v.maxLength(QUESTIONS_MAX),
    v.check((questions) => areDistinct(questions.map((one) => one.name)), 'two questions have the same name'),
  ),
});

/** A choice as it may be given: its name alone, or with what it means. */
export function nameOf(given: string | { readonly name: string }): string {
  return typeof given === 'string' ? given : given.name;
}

function areDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}

export const THOUGHT_TOOLS: readonly ToolSpec[] = [
  {
    name: 'think',
    description:
      'Has another model think about a prompt, without tools and without this conversation, and returns its answer: ' +
      'text, or JSON that matches output_schema. For a second opinion, a hard piece of reasoning, or a summary of ' +
      'text that you put into the prompt. It costs a model call.',
    params: thinkParams,
    action: 'control',
    runs: 'supervisor',
    readOnly: false,
    waits: true,
  },
  {
    name: 'decide',
    description:
      `Has a model answer 1 to ${QUESTIONS_MAX} questions about one situation, each with one of its choices or with yes or no. ` +
      'Returns for each the answer, the confidence from 0 to 1, and whether that is sure enough to go by. ' +
      'For routing, triage and checks, where a text would only have to be read again.',
    params: decideParams,
    action: 'control',
    runs: 'supervisor',
    readOnly: false,
    waits: true,
  },
];
