// Entry of the command: run the verb, tell expected failures in one line, leave with the code of the table.

import { systemClock } from '../shared/clock.js';
import { TurndError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';
import { processIo, writeAll } from './cli/io.js';
import { runProgram } from './cli/program.js';
import { commandExitCode, EXIT } from './exit-codes.js';

async function main(): Promise<number> {
  const io = processIo();
  // A reader that went away (`| head -1`) ends the output, not the work.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    return await runProgram(process.argv.slice(2), io);
  } catch (error) {
    if (error instanceof TurndError) {
      await writeAll(io.stderr, `turnd: ${error.message}\n`);
      return commandExitCode(error.code);
    }
    return tellIncident(error);
  }
}

/** What nobody foresaw: one id for the report, the stack for us, and an exit that cannot be taken for success. */
async function tellIncident(error: unknown): Promise<number> {
  const incident = newId('incident', systemClock.now());
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  await writeAll(process.stderr, `turnd: internal error ${incident}\n${what}\n`);
  return EXIT.failed;
}

function leave(code: number): void {
  process.exit(code);
}

for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.once(event, (error: unknown) => void tellIncident(error).then(leave));

void main().then(leave);
