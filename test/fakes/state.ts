// Looks into a state directory from outside, as `turnd items` does: read-only, beside its owner.
import { openReader } from '../../supervisor/store/open.js';
import type { Reader } from '../../supervisor/store/reader.js';
import type { TurnRow } from '../../supervisor/store/rows.js';
import { eventually } from './processes.js';

/** Null while there is no store that can be read. */
function peek<T>(stateDir: string, look: (reader: Reader) => T): T | null {
  const opened = openReader(stateDir);
  if (!opened.ok) return null;
  try {
    return look(opened.reader);
  } finally {
    opened.reader.close();
  }
}

export function firstTurn(stateDir: string): TurnRow | null {
  return peek(stateDir, (reader) => reader.turns.ofThread('root')[0] ?? null);
}

export function endRequested(stateDir: string): string | null {
  return firstTurn(stateDir)?.end_requested ?? null;
}

/** Process group of the worker of the first turn, as soon as there is one. */
export async function workerOf(stateDir: string): Promise<number> {
  await eventually(() => firstTurn(stateDir)?.pid != null, 10_000);
  const pid = firstTurn(stateDir)?.pid;
  if (pid == null) throw new Error('the turn has no worker');
  return pid;
}

/** True once a call of the first turn has been granted and has not reported yet. */
export async function inCall(stateDir: string): Promise<boolean> {
  return eventually(
    () =>
      peek(stateDir, (reader) => {
        const turn = reader.turns.ofThread('root')[0];
        return (
          turn !== undefined && reader.calls.openOf(turn.turn_id).some(({ state }) => state === 'running')
        );
      }) === true,
    10_000,
  );
}
