// The worker process: says hello, waits, serves one turn, reports its end and leaves. What only a turn needs is loaded
// when a turn or a rehearsal comes, so that `ready` is there as soon as an empty script would be.
// Frames use descriptors of their own (3 from the supervisor, 4 to it): nothing that is printed can touch them.
import { Socket } from 'node:net';
import { systemClock } from '../shared/clock.js';
import type { ToSupervisor } from '../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../shared/ipc/to-worker.js';
import type { EndReason } from '../shared/outcome.js';
import { Control } from './control.js';
import { EXIT_FAILED, EXIT_USAGE, workerExitCode } from './exit-code.js';
import type { ModelProvider } from './models/provider.js';

const DOWN = 3;
const UP = 4;

type Frame<T extends ToWorker['type']> = Extract<ToWorker, { type: T }>;

const clock = systemClock;
const stop = new AbortController();
let turnTaken = false;
let connected: { readonly url: string; readonly dialect: string; readonly provider: ModelProvider } | null =
  null;
let preparing: Promise<void> = Promise.resolve();

const control = new Control(
  new Socket({ fd: DOWN, readable: true, writable: false }),
  new Socket({ fd: UP, readable: false, writable: true }),
  {
    prepare: (frame) => {
      preparing = preparing.then(() => prepare(frame)).catch(fail);
    },
    turn: (frame) => {
      if (turnTaken) return giveUp('protocol_violation', 'A second turn came', EXIT_USAGE);
      turnTaken = true;
      serve(frame).catch(fail);
    },
    cancel: end,
    lost: endWithSupervisor,
    fault: (message) => giveUp('protocol_violation', message, EXIT_USAGE),
  },
);

process.on('SIGTERM', () => end('cancel'));
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

async function prepare({ model, ca }: Frame<'prepare'>): Promise<void> {
  const [{ makeProvider }, { rehearse }] = await Promise.all([
    import('./serve-turn.js'),
    import('./rehearsal.js'),
  ]);
  await rehearse(model, clock);
  connected?.provider.close();
  const provider = makeProvider(model, clock);
  connected = { url: model.url, dialect: model.dialect, provider };
  control.send({ type: 'prepared', connected: await provider.preconnect(model, ca) });
}

async function serve({ snapshot, credentials }: Frame<'turn'>): Promise<void> {
  const { serveTurn } = await import('./serve-turn.js');
  const { url, dialect } = snapshot.model;
  const fits = connected !== null && connected.url === url && connected.dialect === dialect;
  const provider = fits ? (connected?.provider ?? null) : null;
  const outcome = await serveTurn({ control, clock, signal: stop.signal, snapshot, credentials, provider });
  leave({ type: 'turn_done', outcome }, workerExitCode(outcome));
}

/** A turn is told to stop and reports how far it came; without one there is nothing to wait for. */
function end(reason: EndReason): void {
  if (turnTaken) stop.abort(reason);
  else process.exit(0);
}

/** Nobody is left to report to. The group holds everything that this worker started, itself included. */
function endWithSupervisor(): void {
  stop.abort('operator');
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    // Not the leader of a group of its own.
  }
  process.exit(EXIT_FAILED);
}

function fail(error: unknown): void {
  giveUp('internal_error', error instanceof Error ? error.message : String(error), EXIT_FAILED);
}

function giveUp(code: string, message: string, exitCode: number): void {
  leave({ type: 'failed', code, message }, exitCode);
}

function leave(frame: ToSupervisor, exitCode: number): void {
  control.finish(frame, () => process.exit(exitCode));
}
