// Runs a shell command to its end and tells how it ended and what it printed.
import type { JsonObject, JsonValue } from '../../../shared/json.js';
import type { Command } from './command.js';
import { flagIn, numberIn, textIn } from './content.js';
import { ask, type Plan, type Told } from './plan.js';
import { failed, joinText } from './told.js';
import { block, fenced, head, oneLine } from './wording.js';

/** Polls of a command that outlived its first answer; each waits as long as the tool allows. */
const MOST_POLLS = 200;
const MOST_SHOWN = 20_000;

export function* runPlan(command: Extract<Command, { kind: 'run' }>): Plan {
  const args: JsonObject = { command: command.command };
  if (command.folder !== null) args['cwd'] = command.folder;
  const line = `\`${oneLine(command.command)}\``;
  let given = yield* ask('exec_command', args);
  let output = '';
  for (let poll = 0; given.failure === null && poll < MOST_POLLS; poll += 1) {
    output += textIn(given.content, 'output') ?? '';
    const session = sessionOf(given.content);
    if (session === null) break;
    given = yield* ask('write_stdin', { session_id: session, chars: '' });
  }
  if (given.failure !== null && output === '' && textIn(given.content, 'output') === null)
    return failed(`${line} was not run to its end: ${given.failure}.`);
  return ended(line, given.content, output);
}

function sessionOf(content: JsonValue): string | number | null {
  return textIn(content, 'session_id') ?? numberIn(content, 'session_id');
}

function ended(line: string, content: JsonValue, output: string): Told {
  const code = numberIn(content, 'exit_code');
  const signal = textIn(content, 'signal');
  const how = flagIn(content, 'timed_out')
    ? 'ran out of time and was ended'
    : sessionOf(content) !== null
      ? 'is still running; it ends with this turn'
      : signal !== null
        ? `was ended by ${oneLine(signal)}`
        : code === 0
          ? 'ended well (exit code 0)'
          : code === null
            ? 'ended'
            : `failed (exit code ${code})`;
  const shown = head(block(output.replace(/\n+$/, '')), MOST_SHOWN);
  const notes = [
    shown.whole ? '' : 'Only the first part of the output is shown here.',
    flagIn(content, 'truncated') ? 'The middle of the output was left out.' : '',
  ].filter((note) => note !== '');
  const printed = shown.text === '' ? 'It printed nothing.' : fenced(shown.text);
  return { text: joinText(`${line} ${how}.`, printed, notes.join(' ')), result: output };
}
