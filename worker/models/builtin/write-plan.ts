// Writes a text to a file, word for word, and says what it wrote.
import type { Command } from './command.js';
import { objectIn } from './content.js';
import { lineCount } from './file-view.js';
import { ask, type Plan } from './plan.js';
import { failed } from './told.js';
import { countText, oneLine, sizeText } from './wording.js';

export function* writePlan(command: Extract<Command, { kind: 'write' }>, before: string | null): Plan {
  const path = `\`${oneLine(command.path)}\``;
  const content = command.content ?? before;
  if (content === null)
    return failed(`${path} was not written: no step before this one gave anything to write.`);
  const given = yield* ask('write_file', { path: command.path, content });
  if (given.failure !== null) return failed(`${path} was not written: ${given.failure}.`);
  const size = `${countText(lineCount(content), 'line')}, ${sizeText(Buffer.byteLength(content))}`;
  const source = command.content === null ? ': what the step before gave' : '';
  const replaced = objectIn(given.content)['created'] === false ? ', in place of what was there' : '';
  return { text: `Wrote ${path} (${size}${replaced})${source}.`, result: null };
}
