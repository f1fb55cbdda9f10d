// The start of a supervisor on a store that an earlier one may have left in the middle of something.
import type { Config } from '../config/schema.js';
import type { Clock } from '../shared/clock.js';
import { Governor } from './budgets/governor.js';
import { recordedProcesses, recover } from './dispatch/recover.js';
import type { Logger } from './observe/logger.js';
import { endOrphans } from './processes/orphans.js';
import { dropOldSpools } from './snapshot/spool.js';
import type { Store } from './store/types.js';

/** Brings what an earlier supervisor left to a true state. Before anything is accepted. */
export async function recoverStore(
  store: Store,
  config: Config,
  clock: Clock,
  logger: Logger,
): Promise<void> {
  if (store.unclean_since_ms !== null)
    logger.log('warn', 'store.unclean', { last_write_ms: store.unclean_since_ms });
  const recorded = recordedProcesses(store);
  if (recorded.length > 0)
    logger.log('warn', 'recover.orphans', { ended: await endOrphans(recorded, clock) });
  dropOldSpools(store.dir);
  const governor = new Governor(store, config.intelligence);
  const { turns, requeued } = recover(store, governor, clock.now());
  for (const turnId of requeued)
    logger.log('info', 'turn.requeued', { turn_id: turnId, reason: 'supervisor_lost' });
  for (const turnId of turns) logger.log('warn', 'recover.turn', { turn_id: turnId });
}
