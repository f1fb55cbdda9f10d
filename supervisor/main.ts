// Entry of the command: run the verb, tell expected failures in one line, leave with the code of the table.
// What a job needs first, its worker, is launched before anything else is loaded.
import { EXIT } from './exit-codes.js';
import { launchAhead } from './processes/launch-ahead.js';
import type { LaunchedAhead } from './processes/types.js';

async function main(argv: readonly string[]): Promise<number> {
  const ahead = isJob(argv) ? launchAhead(process.env) : null;
  const { processIo, writeAll } = await import('./cli/io.js');
  const { TurndError } = await import('../shared/errors.js');
  const io = processIo();
  process.stderr.on('error', () => undefined);
  let lost: NodeJS.ErrnoException | null = null;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that went away (`| head -1`) ends the output, not the work. All else loses what was asked for.
    if (error.code !== 'EPIPE') lost = error;
  });
  try {
    const { runProgram } = await import('./cli/program.js');
    const code = await runProgram(argv, io, ahead);
    return lost === null ? code : await tellLost(lost, code);
  } catch (error) {
    if (!(error instanceof TurndError)) return tellIncident(error);
    const { commandExitCode } = await import('./exit-codes.js');
    await writeAll(io.stderr, `turnd: ${error.message}\n`);
    return commandExitCode(error.code);
  } finally {
    endUnused(ahead);
  }
}

/** Nobody may take an answer for delivered that is not there. */
async function tellLost(error: Error, code: number): Promise<number> {
  const { writeAll } = await import('./cli/io.js');
  await writeAll(process.stderr, `turnd: the output could not be written: ${error.message}\n`);
  return code === EXIT.ok ? EXIT.failed : code;
}

/** Good enough to start early: a command that turns out to be something else ends the worker again. */
function isJob(argv: readonly string[]): boolean {
  return argv.some((arg) => arg === '-p' || arg === '--prompt' || arg.startsWith('--prompt='));
}

/** After a job this is gone already; after a usage error nobody has taken it. */
function endUnused(ahead: LaunchedAhead | null): void {
  if (ahead !== null && 'child' in ahead.launched) ahead.launched.child.kill('SIGKILL');
}

/** What nobody foresaw: one id for the report, the stack for us, and an exit that cannot be taken for success. */
async function tellIncident(error: unknown): Promise<number> {
  const { systemClock } = await import('../shared/clock.js');
  const { newId } = await import('../shared/ids.js');
  const incident = newId('incident', systemClock.now());
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`turnd: internal error ${incident}\n${what}\n`);
  return EXIT.failed;
}

function leave(code: number): void {
  process.exit(code);
}

for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.once(event, (error: unknown) => void tellIncident(error).then(leave));

/** Before a job watches for signals, one ends the command at once; process 1 of a container would not even notice it. */
for (const [signal, code] of [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
  ['SIGHUP', EXIT.terminated],
] as const)
  process.once(signal, () => {
    if (process.listenerCount(signal) === 0) leave(code);
  });

void main(process.argv.slice(2)).then(leave);
