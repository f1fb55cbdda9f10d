// Who answers when a call needs a yes, or when the model asks a person: nobody (the default of a job), everybody's yes, or
// the person at the terminal.
import { openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ReadStream } from 'node:tty';
import { TurndError } from '../../shared/errors.js';
import type { Audience, PersonQuestion } from '../tools/ask-human.js';
import type { Ask, Question } from '../tools/running-turn.js';

export interface People {
  readonly ask: Ask;
  readonly audience: Audience;
}

/** `--on-ask`. Questions are put one after the other. A yes to everything is no answer to a question in words. */
export function makePeople(onAsk: 'deny' | 'allow' | 'wait'): People {
  if (onAsk === 'deny') return { ask: () => Promise.resolve('nobody'), audience: 'nobody' };
  if (onAsk === 'allow') return { ask: () => Promise.resolve('allow'), audience: 'nobody' };
  const terminal = openTerminal();
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(put: () => Promise<T>): Promise<T> => {
    const answer = queue.then(put);
    queue = answer;
    return answer;
  };
  return {
    ask: (question) => inTurn(() => askOnce(terminal, question)),
    audience: (question, signal) => inTurn(() => askInWords(terminal, question, signal)),
  };
}

function openTerminal(): number {
  try {
    const descriptor = openSync('/dev/tty', 'r+');
    return descriptor;
  } catch {
    throw new TurndError(
      'usage',
      '--on-ask wait needs a terminal to ask on; use --on-ask deny or --on-ask allow',
    );
  }
}

async function askOnce(terminal: number, question: Question): Promise<'allow' | 'deny' | 'nobody'> {
  const prompt = `turnd: allow ${question.tool} ${visible(question.arguments)}? [y/N] `;
  const line = await readLine(terminal, prompt);
  if (line === null) return 'nobody';
  return /^y(es)?$/i.test(line) ? 'allow' : 'deny';
}

/** The number of an option stands for it; an empty line is no answer. */
async function askInWords(
  terminal: number,
  { question, options }: PersonQuestion,
  signal: AbortSignal,
): Promise<string | null> {
  if (signal.aborted) return null;
  const choices = options.map((option, index) => `\n  ${index + 1}) ${visible(option)}`).join('');
  const line = await readLine(terminal, `turnd: ${visible(question)}${choices}\n> `, signal);
  if (line === null || line === '') return null;
  return options[Number(line) - 1] ?? line;
}

/** Null when the terminal is gone, or the answer is not wanted any more. */
function readLine(terminal: number, prompt: string, signal?: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const input = new ReadStream(openSync('/dev/tty', 'r'));
    const lines = createInterface({ input });
    const close = (): void => lines.close();
    signal?.addEventListener('abort', close, { once: true });
    writeSync(terminal, prompt);
    let line: string | null = null;
    lines.once('line', (text) => {
      line = text.trim();
      lines.close();
    });
    lines.once('close', () => {
      signal?.removeEventListener('abort', close);
      input.destroy();
      resolve(line);
    });
  });
}

/** Control, invisible and direction characters are shown as escapes: what is read is what runs. */
function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
