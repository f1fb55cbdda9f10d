// exec_command: checks what was asked for, starts the command in its containment, waits for its end or its yield time.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ExecCommandParams } from '../../shared/tools/shell-tools.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import { baseEnvironment } from '../sandbox/base-environment.js';
import { commandEnvironment, refusedVariable } from '../sandbox/command-environment.js';
import type { ContainedCommand } from '../sandbox/contained-command.js';
import { containmentLayers, type Layer } from '../sandbox/layers.js';
import { startCommand } from '../sandbox/start-command.js';
import { type ExecLimits, execLimits } from './exec-limits.js';
import type { Executor, ToolContext } from './executor.js';
import { RunningCommand } from './running-command.js';
import { shellLine } from './shell-line.js';
import { endReport, type ReportOptions, runningReport } from './shell-result.js';
import { SESSIONS_MAX, sessionsOf } from './shell-sessions.js';

/** Found at the first command; the order in it changes as layers prove to hold. */
let layers: Layer[] | null = null;

function invalid(message: string): ToolResult {
  return toolError(message, { code: 'invalid_params' });
}

async function problemWith(params: ExecCommandParams, cwd: string): Promise<string | null> {
  if (params.command.includes('\0')) return 'command contains a NUL character';
  for (const [name, value] of Object.entries(params.env ?? {})) {
    const refused = refusedVariable(name, value);
    if (refused !== null) return refused;
  }
  const found = await stat(cwd).catch(() => null);
  if (found === null) return `cwd: there is no directory ${JSON.stringify(cwd)}`;
  return found.isDirectory() ? null : `cwd: ${JSON.stringify(cwd)} is not a directory`;
}

async function start(
  params: ExecCommandParams,
  cwd: string,
  context: ToolContext,
): Promise<ContainedCommand | string> {
  const base = baseEnvironment();
  const searchPath = base['PATH'] ?? '';
  layers ??= containmentLayers(searchPath, process.getuid?.() === 0);
  const options = {
    argv: await shellLine(params.command, searchPath, context.spoolDir),
    cwd,
    env: commandEnvironment(base, params.env ?? {}, context.processMarker),
    searchPath,
    spoolDir: context.spoolDir,
    openStdin: params.open_stdin === true,
    clock: context.clock,
  };
  return await startCommand(options, layers);
}

function notesOf(command: ContainedCommand, limits: ExecLimits): string[] {
  if (command.layer === 'pid_namespace') return [...limits.notes];
  return [
    ...limits.notes,
    'This machine has no process namespaces: what a command detaches with an emptied environment may outlive it.',
  ];
}

async function outcome(
  running: RunningCommand,
  limits: ExecLimits,
  report: ReportOptions,
  context: ToolContext,
): Promise<ToolResult> {
  await running.wait(limits.yieldMs);
  if (running.isOver) return await endReport(running, report);
  const sessions = sessionsOf(context.processMarker);
  if (sessions.isFull) {
    await running.ended;
    const note = `It could not become a session: ${SESSIONS_MAX} are running already.`;
    return await endReport(running, { ...report, notes: [...report.notes, note] });
  }
  running.keepWhole();
  const session = sessions.add(report.commandLine, running);
  return runningReport(running, session.id, report);
}

export const execCommand: Executor<ExecCommandParams> = async (params, context) => {
  const limits = execLimits(params, context);
  if (typeof limits === 'string') return invalid(limits);
  const cwd = resolve(context.workspaceRoot, params.cwd ?? '.');
  const problem = await problemWith(params, cwd);
  if (problem !== null) return invalid(problem);
  if (params.open_stdin === true && sessionsOf(context.processMarker).isFull) {
    return toolError(`${SESSIONS_MAX} sessions are running already. End one with write_stdin first.`);
  }
  if (context.signal.aborted)
    return toolError('Interrupted: the turn is ending. The command was not started.');
  const startedAt = context.clock.monotonic();
  const command = await start(params, cwd, context);
  if (typeof command === 'string') return toolError(`The command could not be started: ${command}`);
  const running = new RunningCommand(command, limits.limitMs, context, startedAt);
  const report = {
    commandLine: params.command,
    limitBytes: context.limits.tool_output_bytes,
    notes: notesOf(command, limits),
  };
  return await outcome(running, limits, report, context);
};
