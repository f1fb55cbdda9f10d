// What may happen to a turn before a worker is taken for it and after it has ended, while its thread is held. Both are
// handed in; where nobody has anything to do, they cost nothing.
import type { ResolvedModel } from '../intelligence/resolve-model.js';
import type { TurnRow } from '../store/rows.js';
import type { Waiting } from './gate.js';

/** What the time before a turn found out for it. */
export interface TurnExtras {
  /** The model that was chosen for this turn instead of the usual one. */
  readonly model?: ResolvedModel;
  /** Reference text for the system prompt. */
  readonly knowledge?: string;
}

export type BeforeTurn =
  | { readonly kind: 'go'; readonly extras: TurnExtras }
  /** The message has its answer: the turn ends completed with it, without a worker. */
  | { readonly kind: 'answered'; readonly reply: string };

/**
 * Runs with slot and thread held, before the first window of a turn only. Null, at once, when there is nothing to do.
 * Never rejects; after `signal` its answer does not count any more, but the thread is held until it resolves.
 */
export type BeforeHook = (turn: Waiting, signal: AbortSignal) => Promise<BeforeTurn> | null;

/** Runs after the end of a turn, with its thread held. Null, at once, when there is nothing to do. Never rejects. */
export type AfterHook = (turn: Waiting, row: TurnRow, signal: AbortSignal) => Promise<void> | null;

export const NO_EXTRAS: TurnExtras = {};
