// Puts the tables together into the one store that the supervisor works with.
import { artifactsTable } from './artifacts.js';
import { calibrationsTable } from './calibrations.js';
import { callsTable } from './calls.js';
import type { Db } from './database.js';
import { eventsTable } from './events.js';
import { inboxTable } from './inbox.js';
import { memoryTable } from './memory.js';
import { plansTable } from './plans.js';
import { reservationsTable } from './reservations.js';
import { spendingTable } from './spending.js';
import { removeFile, type StatePaths } from './state-dir.js';
import { summariesTable } from './summaries.js';
import { switchesTable } from './switches.js';
import { threadNotesTable } from './thread-notes.js';
import { threadsTable } from './threads.js';
import { timersTable } from './timers.js';
import { transactOf } from './transact.js';
import { turnsTable } from './turns.js';
import type { Store } from './types.js';
import { usageTable } from './usage.js';
import { waitsTable } from './waits.js';
import { workspacesTable } from './workspaces.js';

export interface StoreParts {
  readonly db: Db;
  readonly paths: StatePaths;
  readonly uncleanSinceMs: number | null;
  releaseLock(): void;
}

export function assembleStore({ db, paths, uncleanSinceMs, releaseLock }: StoreParts): Store {
  return {
    dir: paths.dir,
    unclean_since_ms: uncleanSinceMs,
    transact: transactOf(db),
    checkpoint: () => void db.pragma('wal_checkpoint(PASSIVE)'),
    close: () => {
      if (!db.open) return;
      // Whoever reads at this moment may keep the log alive; that is not worth waiting for.
      db.pragma('busy_timeout = 0');
      db.pragma('wal_checkpoint(TRUNCATE)');
      // The mark goes before the log does: a mark without a log means that somebody took the log away.
      removeFile(paths.running);
      db.close();
      releaseLock();
    },
    workspaces: workspacesTable(db),
    threads: threadsTable(db),
    inbox: inboxTable(db),
    turns: turnsTable(db),
    events: eventsTable(db),
    calls: callsTable(db),
    calibrations: calibrationsTable(db),
    usage: usageTable(db),
    spending: spendingTable(db),
    reservations: reservationsTable(db),
    artifacts: artifactsTable(db, paths),
    memory: memoryTable(db),
    plans: plansTable(db),
    waits: waitsTable(db),
    switches: switchesTable(db),
    timers: timersTable(db),
    threadNotes: threadNotesTable(db),
    summaries: summariesTable(db),
  };
}
