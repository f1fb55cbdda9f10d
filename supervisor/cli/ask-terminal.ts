// Who answers when a call needs a yes: nobody (the default of a job), everybody's yes, or the person at the terminal.
import { openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ReadStream } from 'node:tty';
import { TurndError } from '../../shared/errors.js';
import type { Ask, Question } from '../tools/running-turn.js';

/** `--on-ask`. Questions are put one after the other. */
export function makeAsk(onAsk: 'deny' | 'allow' | 'wait'): Ask {
  if (onAsk === 'deny') return () => Promise.resolve('nobody');
  if (onAsk === 'allow') return () => Promise.resolve('allow');
  const terminal = openTerminal();
  let queue: Promise<unknown> = Promise.resolve();
  return (question) => {
    const answer = queue.then(() => askOnce(terminal, question));
    queue = answer;
    return answer;
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

function askOnce(terminal: number, question: Question): Promise<'allow' | 'deny' | 'nobody'> {
  return new Promise((resolve) => {
    const input = new ReadStream(openSync('/dev/tty', 'r'));
    const lines = createInterface({ input });
    writeSync(terminal, `turnd: allow ${question.tool} ${visible(question.arguments)}? [y/N] `);
    let answered = false;
    lines.once('line', (line) => {
      answered = true;
      lines.close();
      resolve(/^y(es)?$/i.test(line.trim()) ? 'allow' : 'deny');
    });
    lines.once('close', () => {
      input.destroy();
      if (!answered) resolve('nobody');
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
