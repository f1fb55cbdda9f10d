// The worker process: says hello, waits, serves one turn, reports its end and leaves. What only a turn needs is loaded
// when a turn or a rehearsal comes, so that `ready` is there as soon as an empty script would be.
// Frames use descriptors of their own (3 from the supervisor, 4 to it): nothing that is printed can touch them.
import { Socket } from 'node:net';
import { systemClock } from '../shared/clock.js';
import type { ToSupervisor } from '../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../shared/ipc/to-worker.js';
import type { ModelSettings } from '../shared/ipc/turn-snapshot.js';
import { makeMasker } from '../shared/mask.js';
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
let leaving = false;
let masked: readonly string[] = [];
/** What the last `prepare` made ready. */
let prepared: { readonly model: ModelSettings; readonly provider: ModelProvider } | null = null;
let preparing: Promise<void> = Promise.resolve();

const control = new Control(
  new Socket({ fd: DOWN, readable: true, writable: false }),
  new Socket({ fd: UP, readable: false, writable: true }),
  {
    prepare: (frame) => {
      preparing = preparing.then(() => prepare(frame)).catch(fail);
    },
    turn: (frame) => {
      if (turnTaken) giveUp('protocol_violation', 'A second turn came', EXIT_USAGE);
      else serve(frame).catch(fail);
    },
    search: (frame) => {
      if (turnTaken) giveUp('protocol_violation', 'A search came after a turn', EXIT_USAGE);
      else search(frame).catch(fail);
    },
    idle: loadAhead,
    cancel: end,
    lost: endWithSupervisor,
    fault: (message) => giveUp('protocol_violation', message, EXIT_USAGE),
  },
);

process.on('SIGTERM', () => end('cancel'));
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/** What every turn needs is loaded while the supervisor makes up its mind; whoever needs it first waits for the rest. */
function loadAhead(): void {
  setImmediate(() => void import('./serve-turn.js').catch(fail));
}

/** Rehearses once for a dialect; asked again, it only sees to the connection. */
async function prepare({ model, ca }: Frame<'prepare'>): Promise<void> {
  const [{ providerFor }, { rehearse }] = await Promise.all([
    import('./models/registry.js'),
    import('./rehearsal.js'),
    import('./serve-turn.js'),
  ]);
  if (prepared?.model.dialect !== model.dialect) await rehearse(model, clock, () => turnTaken);
  if (turnTaken) return;
  if (prepared === null || !sameEndpoint(prepared.model, model)) {
    prepared?.provider.close();
    prepared = { model, provider: providerFor(model, clock) };
  }
  const connected = await prepared.provider.preconnect(model, ca);
  if (!turnTaken) control.send({ type: 'prepared', connected });
}

function sameEndpoint(left: ModelSettings, right: ModelSettings): boolean {
  return left.dialect === right.dialect && left.url === right.url;
}

async function serve({ snapshot, credentials }: Frame<'turn'>): Promise<void> {
  turnTaken = true;
  masked = credentials.mask;
  const { serveTurn } = await import('./serve-turn.js');
  const ready = prepared !== null && sameEndpoint(prepared.model, snapshot.model) ? prepared.provider : null;
  const outcome = await serveTurn({
    control,
    clock,
    signal: stop.signal,
    snapshot,
    credentials,
    provider: ready,
  });
  leave({ type: 'turn_done', outcome }, workerExitCode(outcome));
}

/** The other thing that a worker may be there for. */
async function search({ order }: Frame<'search'>): Promise<void> {
  turnTaken = true;
  masked = order.place.kind === 'server' && order.place.token !== undefined ? [order.place.token] : [];
  const { searchKnowledge } = await import('./knowledge/search-knowledge.js');
  leave({ type: 'found', hits: await searchKnowledge(order, clock, stop.signal) }, 0);
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
  leave({ type: 'failed', code, message: makeMasker(masked).text(message) }, exitCode);
}

/** The last frame, then the exit; whatever goes wrong after it must not cut it short. */
function leave(frame: ToSupervisor, exitCode: number): void {
  if (leaving) return;
  leaving = true;
  control.finish(frame, () => process.exit(exitCode));
}
