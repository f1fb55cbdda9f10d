// write_stdin: feeds, polls or ends a session of exec_command.
import type { Writable } from 'node:stream';
import type { WriteStdinParams } from '../../shared/tools/shell-tools.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import { timeProblem } from './exec-limits.js';
import type { Executor, ToolContext } from './executor.js';
import type { RunningCommand } from './running-command.js';
import { endReport, runningReport } from './shell-result.js';
import { type ShellSession, sessionsOf } from './shell-sessions.js';

/** After text: this long without more output counts as the answer being complete. */
const ANSWER_QUIET_MS = 200;
/** Text that the command has not read yet is held in memory; beyond this it is refused. */
const UNREAD_BYTES_MAX = 1024 * 1024;

function unknownSession(id: number, context: ToolContext): ToolResult {
  const live = sessionsOf(context.processMarker).all.map((session) => session.id);
  const known = live.length === 0 ? 'There are none.' : `There are: ${live.join(', ')}.`;
  return toolError(`There is no session ${id}; it may have ended and been reported. ${known}`);
}

function inputProblem(stdin: Writable | null, params: WriteStdinParams): string | null {
  const text = params.text ?? '';
  if (text === '' && params.close !== true) return null;
  if (stdin === null) {
    return 'Its standard input is closed. Start the command again with open_stdin: true to be able to feed it.';
  }
  if (stdin.writableEnded) return 'Its standard input was closed before.';
  if (stdin.destroyed) return 'It does not read its standard input any more.';
  if (stdin.writableLength + Buffer.byteLength(text) > UNREAD_BYTES_MAX) {
    return `It does not read its standard input: ${stdin.writableLength} bytes still wait. Write less, or poll first.`;
  }
  return null;
}

function feed(running: RunningCommand, params: WriteStdinParams): void {
  const { stdin } = running.command;
  if (stdin === null) return;
  if (params.text !== undefined && params.text !== '') stdin.write(params.text);
  if (params.close === true) stdin.end();
}

function sendSignal(running: RunningCommand, params: WriteStdinParams): void {
  if (params.signal === 'interrupt') running.command.interrupt('SIGINT');
  if (params.signal === 'terminate') running.stop('killed');
  if (params.signal === 'kill') running.stop('killed', { noGrace: true });
}

async function report(session: ShellSession, context: ToolContext): Promise<ToolResult> {
  const { running } = session;
  const limitBytes = context.limits.tool_output_bytes;
  const options = { commandLine: session.commandLine, limitBytes, notes: [] };
  if (!running.isOver) return runningReport(running, session.id, options);
  sessionsOf(context.processMarker).remove(session.id);
  return await endReport(running, options);
}

export const writeStdin: Executor<WriteStdinParams> = async (params, context) => {
  const problem = timeProblem('yield_ms', params.yield_ms, 0, context.limits.exec_timeout_max_ms);
  if (problem !== null) return toolError(problem, { code: 'invalid_params' });
  const session = sessionsOf(context.processMarker).get(params.session_id);
  if (session === undefined) return unknownSession(params.session_id, context);
  const { running } = session;
  if (!running.isOver) {
    const refused = inputProblem(running.command.stdin, params);
    if (refused !== null) return toolError(refused);
    feed(running, params);
    sendSignal(running, params);
    const asked = (params.text ?? '') !== '' && params.close !== true;
    const fed = asked || params.signal === 'interrupt';
    await running.wait(params.yield_ms ?? context.limits.exec_yield_ms, fed ? ANSWER_QUIET_MS : undefined);
  }
  return await report(session, context);
};
