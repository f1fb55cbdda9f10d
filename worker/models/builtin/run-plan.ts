// Runs a shell command to its end and tells how it ended and what it printed.
import type { JsonObject } from '../../../shared/json.js';
import type { Command } from './command.js';
import { flagIn, listIn, numberIn, objectIn, textIn } from './content.js';
import { ask, type Given, type Plan, type Told } from './plan.js';
import { failed, joinText } from './told.js';
import { block, countText, fenced, head, oneLine } from './wording.js';

/** Polls of a command that outlived its first answer; each waits as long as the tool waits by itself. */
const MOST_POLLS = 200;
const MOST_SHOWN = 20_000;

export function* runPlan(command: Extract<Command, { kind: 'run' }>): Plan {
  const args: JsonObject = { command: command.command };
  if (command.folder !== null) args['cwd'] = command.folder;
  const line = `\`${oneLine(command.command)}\``;
  let given = yield* ask('exec_command', args);
  let output = textIn(given.content, 'output');
  let omitted = 0;
  for (let poll = 0; poll < MOST_POLLS; poll += 1) {
    omitted += numberIn(objectIn(given.content)['omitted'], 'bytes') ?? 0;
    const session = numberIn(given.content, 'session_id');
    if (session === null) break;
    given = yield* ask('write_stdin', { session_id: session });
    output = `${output ?? ''}${textIn(given.content, 'output') ?? ''}`;
  }
  // A command that was ended is a failed call with output; a call that never ran has none.
  if (output === null) return failed(`${line} was not run: ${given.failure ?? 'the tool gave no output'}.`);
  return ended(line, given, output, omitted);
}

function ended(line: string, given: Given, output: string, omitted: number): Told {
  const shown = head(block(output.replace(/\n+$/, '')), MOST_SHOWN);
  const notes = [
    shown.whole ? '' : 'Only the first part of the output is shown here.',
    omitted > 0 ? `${countText(omitted, 'byte')} in the middle of the output were left out.` : '',
    ...listIn(given.content, 'notes').filter(
      (note) => typeof note === 'string' && !/^No (?:new )?output/.test(note),
    ),
  ].filter((note) => typeof note === 'string' && note !== '');
  const printed = shown.text === '' ? 'It printed nothing.' : fenced(shown.text);
  return {
    text: joinText(
      `${line} ${how(given)}.`,
      printed,
      notes.map((note) => oneLine(String(note), 400)).join('\n'),
    ),
    result: output,
  };
}

function how({ content, failure }: Given): string {
  const code = numberIn(content, 'exit_code');
  const signal = textIn(content, 'signal');
  if (flagIn(content, 'timed_out')) return 'ran into its time limit (limits.exec.timeout) and was ended';
  if (flagIn(content, 'interrupted')) return 'was interrupted';
  if (flagIn(content, 'running')) return 'is still running; it ends with this turn';
  if (signal !== null) return `was ended by ${oneLine(signal)}`;
  if (code === 0) return 'ended well (exit code 0)';
  if (code !== null) return `failed (exit code ${code})`;
  return failure === null ? 'ended' : `was not followed to its end: ${failure}`;
}
