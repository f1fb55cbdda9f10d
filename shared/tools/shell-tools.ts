// Commands of the shell: what a model may ask for. How they are run and ended is worker/tools and worker/sandbox.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';

const SESSION_SIGNALS = ['interrupt', 'terminate', 'kill'] as const;

/** The upper limits depend on the configuration; the executor checks them and says them. */
const milliseconds = (least: number, meaning: string) =>
  v.pipe(
    v.number(`Expected a whole number of milliseconds, at least ${least}`),
    v.integer(`Expected a whole number of milliseconds, at least ${least}`),
    v.minValue(least, `Expected a whole number of milliseconds, at least ${least}`),
    v.description(meaning),
  );

export const execCommandParams = v.strictObject({
  command: v.pipe(
    v.string(),
    v.minLength(1),
    v.description('one or more lines of shell (bash where there is one, else sh)'),
  ),
  cwd: v.optional(
    v.pipe(
      v.string(),
      v.description('working directory, absolute or from the workspace root; default: the root'),
    ),
  ),
  timeout_ms: v.optional(
    milliseconds(
      1,
      'time limit of the command, session or not; then all of it is ended. Default 120000, at most 3600000 unless configured otherwise',
    ),
  ),
  yield_ms: v.optional(
    milliseconds(
      0,
      'how long to wait for the end before the command becomes a session. Default 30000 unless configured otherwise',
    ),
  ),
  env: v.optional(
    v.pipe(v.record(v.string(), v.string()), v.description('extra environment variables; never secrets')),
  ),
  open_stdin: v.optional(
    v.pipe(v.boolean(), v.description('keep standard input open for write_stdin; default: it is empty')),
  ),
});
export type ExecCommandParams = v.InferOutput<typeof execCommandParams>;

const writeStdinParams = v.strictObject({
  session_id: v.pipe(v.number(), v.integer(), v.description('from the result of exec_command')),
  text: v.optional(
    v.pipe(
      v.string(),
      v.description('written to standard input as it is: end a line with \\n. Empty: only poll'),
    ),
  ),
  close: v.optional(v.pipe(v.boolean(), v.description('close standard input after the text'))),
  signal: v.optional(
    v.pipe(
      v.picklist(SESSION_SIGNALS),
      v.description(
        'interrupt: as Ctrl-C; terminate: end it, with a moment to clean up; kill: end it at once',
      ),
    ),
  ),
  yield_ms: v.optional(
    milliseconds(
      0,
      'how long to wait for the end, or after text for an answer. Default 30000 unless configured otherwise',
    ),
  ),
});
export type WriteStdinParams = v.InferOutput<typeof writeStdinParams>;

export const SHELL_TOOLS: readonly ToolSpec[] = [
  {
    name: 'exec_command',
    description:
      'Runs a shell command and returns its output (stdout and stderr as they came), exit_code and duration_ms. ' +
      'There is no terminal, pager or editor, and standard input is empty, so commands must not ask questions. ' +
      'Long output is shown by its beginning and end; the whole is kept. When the shell ends, background processes it ' +
      'left are ended. A command still running after yield_ms becomes a session: the result has running: true and a ' +
      'session_id for write_stdin, and it ends at its time limit or with the turn. Use that for servers and watchers ' +
      'instead of &.',
    params: execCommandParams,
    action: 'command',
    runs: 'worker',
    readOnly: false,
    // The same test run after an edit is no loop; the same run with the same output is.
    polls: true,
  },
  {
    name: 'write_stdin',
    description:
      'Polls, feeds or ends a running session of exec_command. Returns the output since the last time, and exit_code ' +
      'once it has ended. Text needs a session that was started with open_stdin: true.',
    params: writeStdinParams,
    action: 'command',
    runs: 'worker',
    readOnly: false,
    polls: true,
  },
];
