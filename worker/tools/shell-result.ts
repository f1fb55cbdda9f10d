// What a model gets of a command: new output, how it ended or that it still runs, and notes where something was cut,
// ended or refused. The same shape for exec_command and write_stdin.
import type { JsonObject } from '../../shared/json.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import { boundedText } from './bounded-output.js';
import { commandHint } from './command-hints.js';
import type { CommandEnd, RunningCommand } from './running-command.js';

export interface ReportOptions {
  readonly commandLine: string;
  readonly limitBytes: number;
  readonly notes: readonly string[];
}

interface SeenOutput {
  readonly text: string;
  readonly binary: boolean;
  readonly fields: JsonObject;
}

function takeText(running: RunningCommand, limitBytes: number): SeenOutput {
  const kept = running.takeOutput();
  const { text, binary } = boundedText(kept, limitBytes);
  const omitted =
    kept.omittedBytes === 0
      ? {}
      : { truncated: true, omitted: { bytes: kept.omittedBytes, lines: kept.omittedLines } };
  return { text, binary, fields: { output: text, ...omitted } };
}

/** Of a command that still runs, as the session `sessionId`. */
export function runningReport(
  running: RunningCommand,
  sessionId: number,
  options: ReportOptions,
): ToolResult {
  const seen = takeText(running, options.limitBytes);
  const leftMs = Math.max(0, running.limitMs - running.durationMs);
  const notes = [...options.notes, ...(seen.text === '' ? ['No new output.'] : [])];
  const content = {
    ...seen.fields,
    running: true,
    session_id: sessionId,
    duration_ms: running.durationMs,
    ends_in_ms: leftMs,
    ...(notes.length > 0 ? { notes } : {}),
  };
  return { content, is_error: false };
}

function endNotes(end: CommandEnd, running: RunningCommand, options: ReportOptions, text: string): string[] {
  const notes: string[] = [];
  if (text === '') notes.push('No output.');
  if (end.cause === 'timeout') {
    notes.push(`Ended by its time limit of ${running.limitMs} ms, with everything it had started.`);
  }
  if (end.cause === 'interrupted')
    notes.push('Interrupted: the turn is ending. Everything it had started was ended.');
  if (end.cause === 'killed') notes.push('Ended by force, with everything it had started.');
  if (end.leftBehind.length > 0) {
    const names = [...new Set(end.leftBehind)].slice(0, 8).join(', ');
    notes.push(
      `${end.leftBehind.length} background process(es) still ran when the command ended (${names}) and were ended. ` +
        'To keep one running, run it in the foreground with a small yield_ms: it becomes a session.',
    );
  }
  if (end.left > 0) notes.push(`${end.left} process(es) could not be ended.`);
  const hint = end.cause === 'exit' ? commandHint(options.commandLine, text, end.exitCode) : null;
  if (hint !== null) notes.push(hint);
  return notes;
}

async function finishSpill(
  running: RunningCommand,
  seen: SeenOutput,
): Promise<{ spill?: NonNullable<ToolResult['spill']>; note?: string }> {
  const { spill } = running;
  if (spill === null) return {};
  if (!running.wasCut) {
    await spill.discard();
    return {};
  }
  await spill.close();
  if (spill.broken) return { note: 'The whole output could not be kept: the disk refused it.' };
  const mime = seen.binary ? 'application/octet-stream' : 'text/plain; charset=utf-8';
  const kept = { spill: { path: spill.path, bytes: spill.bytes, mime } };
  if (spill.lostBytes === 0) return kept;
  return {
    ...kept,
    note: `Only the first ${spill.bytes} of ${running.totalBytes} bytes of output are kept.`,
  };
}

/** Of a command that is over. Waits for its spill to be complete. */
export async function endReport(running: RunningCommand, options: ReportOptions): Promise<ToolResult> {
  const end = await running.ended;
  const seen = takeText(running, options.limitBytes);
  const { spill, note } = await finishSpill(running, seen);
  const notes = [...options.notes, ...endNotes(end, running, options, seen.text), ...(note ? [note] : [])];
  const content = {
    ...seen.fields,
    exit_code: end.exitCode,
    ...(end.signal === null ? {} : { signal: end.signal }),
    ...(end.cause === 'timeout' ? { timed_out: true } : {}),
    ...(end.cause === 'interrupted' ? { interrupted: true } : {}),
    duration_ms: running.durationMs,
    output_bytes: running.totalBytes,
    ...(notes.length > 0 ? { notes } : {}),
  };
  const is_error = end.cause === 'timeout' || end.cause === 'interrupted';
  return { content, is_error, ...(spill === undefined ? {} : { spill }) };
}
