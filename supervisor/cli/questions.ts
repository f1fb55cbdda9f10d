// `turnd questions` and `turnd answer`: what turns ask people, and what they are told.
import type { Question } from '../../shared/protocol/question.js';
import { print, type VerbArgs, type VerbIo, withDaemon } from './daemon-client.js';
import { indented, terminalText } from './terminal-text.js';

export function runQuestions(io: VerbIo, args: VerbArgs): Promise<number> {
  return withDaemon(io, args, async (client) => {
    const { questions } = await client.call('question/list', {});
    return print(io, args, { questions }, questions.map(questionText).join(''));
  });
}

export interface AnswerArgs extends VerbArgs {
  readonly question: string;
  readonly text: string;
}

export function runAnswer(io: VerbIo, args: AnswerArgs): Promise<number> {
  return withDaemon(io, args, async (client) => {
    const answered = await client.call('question/answer', {
      question_id: args.question,
      answer: args.text,
    });
    return print(io, args, answered, 'answered\n');
  });
}

function questionText({ question_id, thread_id, text, options }: Question): string {
  const choices = options.map((option) => `\n  - ${terminalText(option)}`).join('');
  return `${question_id}  ${terminalText(thread_id)}\n  ${indented(text, '  ')}${choices}\n`;
}
