// What a turn in flight is made of, and what its scheduler sees of it.
import type { Clock } from '../../shared/clock.js';
import type { TurnCredentials, TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JsonObject } from '../../shared/json.js';
import type { Masker } from '../../shared/mask.js';
import type { EndReason } from '../../shared/outcome.js';
import type { Governor } from '../budgets/governor.js';
import type { WarmPool } from '../processes/types.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import type { Ask, LiveListener } from '../tools/running-turn.js';
import type { FoldAnswer, FoldReason } from './fold-frame.js';
import type { Waiting } from './gate.js';
import type { AfterHook, BeforeHook, TurnExtras } from './phases.js';
import type { RunnerEvent } from './turn-evidence.js';
import type { Waits } from './waits.js';

export interface RunnerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly pool: WarmPool;
  readonly masker: Masker;
  readonly ask: Ask;
  readonly live: LiveListener;
  readonly governor: Governor;
  readonly waits: Waits;
  /** How long a turn that only waits keeps its worker. */
  readonly parkAfterMs: number;
  /** Something that budgets held back is free again: others may go. */
  readonly budgetFreed: () => void;
  readonly before?: BeforeHook;
  readonly after?: AfterHook;
  /** Freezes the turn's input; called once for each window, when a worker is there. */
  freeze(
    turn: Waiting,
    marker: string,
    extras: TurnExtras,
  ): { snapshot: TurnSnapshot; credentials: TurnCredentials };
  /** Folds a thread while its turn runs; left out: nothing is ever folded. Never rejects. */
  compact?(
    turn: Waiting & { readonly snapshot: TurnSnapshot },
    reason: FoldReason,
    signal: AbortSignal,
  ): Promise<FoldAnswer>;
  /** Names a snapshot by its content. */
  hashOf(snapshot: TurnSnapshot): string;
  optionRefused(model: string, option: string): void;
  /** An endpoint of a model failed, or works again. */
  endpoint?(url: string, works: boolean): void;
  /** A turn ended by a `finish` that succeeded, with these arguments. After it is settled. */
  finished?(turnId: string, args: JsonObject): void;
  log(event: RunnerEvent, fields: Record<string, unknown>): void;
}

/** How a window was left. `unrecorded`: the store did not take its end, so the turn must not be started again. */
export type Left = 'ended' | 'requeued' | 'unrecorded';

/** A turn in flight, as the scheduler holds it. */
export interface Flight {
  readonly turn: Waiting;
  /** Resolves when the turn is settled, never when it is put back; rejects never. */
  readonly settled: Promise<TurnRow>;
  /**
   * Resolves when its worker is gone too, with everything it started.
   */
  readonly gone: Promise<Left>;
  end(reason: EndReason, now: boolean): void;
  /** Ends the window, not the turn: it goes back to the queue and on from its journal. One that is to end ends. */
  suspend(reason: 'park' | 'drain'): void;
}
