// What the built-in model says about itself: the line under every answer, and the answer to what it cannot do.
import { grammarLines, SEQUENCE_EXAMPLE, SEQUENCE_NOTE } from './grammar.js';
import { oneLine } from './wording.js';

export const SIGNATURE =
  '— turnd\'s built-in offline model (fixed rules, not a language model); "help" lists what it can do.';

const HOW_TO_SET_A_MODEL = [
  'To have free requests answered, set a real model:',
  '- an environment variable: OPENAI_API_KEY or ANTHROPIC_API_KEY',
  '- a server of your own: --endpoint http://127.0.0.1:11434/v1 --model NAME',
  '- for good: `intelligence` in turnd.yaml',
].join('\n');

export function introduction(notUnderstood: string | null): string {
  const opening =
    notUnderstood === null
      ? "I am turnd's built-in offline model: fixed rules, not a language model."
      : [
          "I am turnd's built-in offline model: fixed rules, not a language model, and this is not a request that I can do:",
          '',
          `    ${oneLine(notUnderstood.split('\n', 1)[0] ?? '', 120)}`,
        ].join('\n');
  const grammar = grammarLines().map((line) => `    ${line}`);
  return [
    opening,
    '',
    'What I can do:',
    '',
    ...grammar,
    '',
    SEQUENCE_NOTE,
    `For example: \`${SEQUENCE_EXAMPLE}\`.`,
    '',
    HOW_TO_SET_A_MODEL,
  ].join('\n');
}
