// Places where a crash test may stop this process as hard as a power cut would. Unarmed they cost one comparison.
import { TRANSACTIONS, type TransactionName } from './store/types.js';

export type KillPoint = `${'before' | 'after'}-commit:${TransactionName}`;

/** The closed list: a new transaction is crash-tested the day it is written. */
export const KILL_POINTS: readonly KillPoint[] = TRANSACTIONS.flatMap((name): KillPoint[] => [
  `before-commit:${name}`,
  `after-commit:${name}`,
]);

interface Armed {
  readonly point: string;
  /** How many more times the point is passed before it kills. */
  left: number;
}

/** `TURND_TEST_KILL_AT=<point>[:<nth>]`, where `:2` means the second time. */
function readArmed(text: string | undefined): Armed | null {
  if (text === undefined || text === '') return null;
  const known = KILL_POINTS.find((point) => text === point || text.startsWith(`${point}:`));
  if (known === undefined) throw new TypeError(`TURND_TEST_KILL_AT names no kill point: ${text}`);
  return { point: known, left: text === known ? 1 : Number(text.slice(known.length + 1)) };
}

const armed = readArmed(process.env.TURND_TEST_KILL_AT);

export function killPoint(point: KillPoint): void {
  if (armed === null || armed.point !== point) return;
  armed.left -= 1;
  if (armed.left > 0) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal may be delivered a moment later: nothing more may happen until then.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}
