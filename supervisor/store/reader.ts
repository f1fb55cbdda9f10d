// The read side of a store, for looking at it while its owner works, or after its owner died: no lock, no write.
import { artifactsTable } from './artifacts.js';
import { callsTable } from './calls.js';
import type { Db } from './database.js';
import { eventsTable } from './events.js';
import { inboxTable } from './inbox.js';
import { isOwned } from './lock.js';
import { memoryTable } from './memory.js';
import { plansTable } from './plans.js';
import { reservationsTable } from './reservations.js';
import { spendingTable } from './spending.js';
import type { StatePaths } from './state-dir.js';
import { summariesTable } from './summaries.js';
import { threadsTable } from './threads.js';
import { turnsTable } from './turns.js';
import type { Store } from './types.js';
import { usageTable } from './usage.js';
import { workspacesTable } from './workspaces.js';

export interface Reader {
  readonly dir: string;
  /** Whether a supervisor owns the directory at this moment: what has not ended may then still change. */
  isOwned(): boolean;
  readonly workspaces: Pick<Store['workspaces'], 'get'>;
  readonly threads: Pick<Store['threads'], 'get' | 'list' | 'startedBy'>;
  readonly inbox: Pick<Store['inbox'], 'pending' | 'ofTurn'>;
  readonly turns: Pick<Store['turns'], 'get' | 'ofThread' | 'ofParent' | 'inStates'>;
  readonly events: Pick<Store['events'], 'ofTurn' | 'ofThread'>;
  readonly calls: Pick<Store['calls'], 'get' | 'openOf'>;
  readonly usage: Pick<Store['usage'], 'ofTurn' | 'ofTree' | 'costOf'>;
  readonly spending: Pick<Store['spending'], 'get'>;
  readonly reservations: Pick<Store['reservations'], 'all'>;
  readonly artifacts: Pick<Store['artifacts'], 'get' | 'read' | 'list'>;
  readonly memory: Pick<Store['memory'], 'get' | 'list'>;
  readonly plans: Pick<Store['plans'], 'get'>;
  readonly summaries: Pick<Store['summaries'], 'get'>;
  close(): void;
}

export function assembleReader(db: Db, paths: StatePaths): Reader {
  return {
    dir: paths.dir,
    isOwned: () => isOwned(paths),
    workspaces: workspacesTable(db),
    threads: threadsTable(db),
    inbox: inboxTable(db),
    turns: turnsTable(db),
    events: eventsTable(db),
    calls: callsTable(db),
    usage: usageTable(db),
    spending: spendingTable(db),
    reservations: reservationsTable(db),
    artifacts: artifactsTable(db, paths),
    memory: memoryTable(db),
    plans: plansTable(db),
    summaries: summariesTable(db),
    close: () => void db.close(),
  };
}
