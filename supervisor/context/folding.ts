// Puts the parts of compaction together: how much room a turn has, what folds a thread, and when it is done.
import type { Config } from '../../config/schema.js';
import type { Clock } from '../../shared/clock.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { Store } from '../store/types.js';
import { CompactPhases } from './compact-phases.js';
import { type CompactionParts, Compactor, type View } from './compaction.js';
import type { Thinker } from './thinker.js';
import { TurnRooms } from './turn-rooms.js';

export interface FoldingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Pick<Config, 'context'>;
  /** Null: nobody summarises, and what is folded is excerpted. */
  readonly thinker: Thinker | null;
  readonly view: View;
  /** Of the model that turns are for. */
  settings(): ModelSettings;
  /** Tokens that this model reads at once, where the configuration does not say it for all. */
  windowOf(settings: ModelSettings): number;
  /** The same of the model that summarises. */
  summaryWindow(): number;
  readonly tell: CompactionParts['tell'];
  readonly log: CompactionParts['log'];
}

export interface Folding {
  readonly rooms: TurnRooms;
  readonly phases: CompactPhases;
}

export function makeFolding(parts: FoldingParts): Folding {
  const { store, clock, view } = parts;
  const { compact_at: compactAt, keep_last: keepLast, model_window, summarize } = parts.config.context;
  const rooms = new TurnRooms({
    store,
    clock,
    compactAt,
    windowOf: (settings) => model_window ?? parts.windowOf(settings),
  });
  const compactor = new Compactor({
    store,
    clock,
    thinker: parts.thinker,
    view,
    keepLast,
    prompt: summarize.prompt,
    summaryWindow: () => parts.summaryWindow(),
    tell: parts.tell,
    log: parts.log,
  });
  return {
    rooms,
    phases: new CompactPhases({ store, compactor, rooms, view, settings: () => parts.settings() }),
  };
}
