// The prompt of a job: the text of --prompt, or all of stdin for `-`. Stdin is read only when it was asked for.
import type { Readable } from 'node:stream';
import { TurndError } from '../../shared/errors.js';

/** Longer prompts belong into a file that the turn reads. */
const PROMPT_BYTES_MAX = 8 * 1024 * 1024;

export async function readPrompt(given: string, stdin: Readable): Promise<string> {
  const text = given === '-' ? await readAll(stdin) : given;
  if (Buffer.byteLength(text) > PROMPT_BYTES_MAX) throw tooLong();
  if (text.trim() === '')
    throw new TurndError(
      'usage',
      given === '-' ? 'stdin held no prompt' : '--prompt is empty; give it a text, or - to read stdin',
    );
  return text;
}

async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const buffer = Buffer.from(chunk as Uint8Array);
    bytes += buffer.length;
    if (bytes > PROMPT_BYTES_MAX) throw tooLong();
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLong(): TurndError {
  return new TurndError(
    'usage',
    `the prompt is longer than ${PROMPT_BYTES_MAX / 1024 / 1024} MB; put it into a file and ask for that file`,
  );
}
