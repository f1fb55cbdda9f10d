// What the tools of subagents need from the rest of the supervisor.
import type { Config } from '../../config/schema.js';
import type { Clock } from '../../shared/clock.js';
import type { EndReason } from '../../shared/outcome.js';
import type { Accepted, IncomingMessage } from '../intake/accept-message.js';
import type { Refusal } from '../intake/door-rules.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';

export interface SubagentPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Pick<Config['limits'], 'run' | 'subagents'>;
  /** In a job nobody stays for them: every subagent ends with the turn. */
  readonly keepsDetached: boolean;
  /** Whether a turn may run on the model of that name. */
  isModel(name: string): boolean;
  /** Disk or memory run short: nothing new is begun. */
  shedding(): boolean;
  /** Inside the transaction of the caller; the turn may start once that has committed. */
  accept(message: IncomingMessage): Accepted | Refusal;
  requestEnd(turnId: string, reason: EndReason, now?: boolean): boolean;
  whenSettled(turnId: string): Promise<TurnRow>;
}
