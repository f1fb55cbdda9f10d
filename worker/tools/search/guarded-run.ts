// Runs a piece of synchronous work that may never end by itself, such as a regular expression that backtracks. The host
// can break off such work only inside a script with a time limit, so the work is called from one.
import { createContext, Script } from 'node:vm';

const BROKEN_OFF = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** Returns whether `work` came to its end within `limitMs`; afterwards it may have stopped anywhere. */
export type GuardedRun = (work: () => void, limitMs: number) => boolean;

export function makeGuardedRun(): GuardedRun {
  const place: { work: (() => void) | null } = { work: null };
  createContext(place);
  const script = new Script('work()');
  return (work, limitMs) => {
    place.work = work;
    try {
      script.runInContext(place, { timeout: limitMs });
      return true;
    } catch (error) {
      // The error is one of the other context, whose Error is not ours.
      if (typeof error === 'object' && error !== null && 'code' in error && error.code === BROKEN_OFF)
        return false;
      throw error;
    } finally {
      place.work = null;
    }
  };
}
