// Everything that happens to a message between its place in the queue and its worker: the look at it and the search for
// reference texts, side by side, then the fold of a conversation that would not fit. Nothing to do costs nothing.
import type { Knowledge } from './knowledge.js';
import type { Preflight, Preflighted } from './preflight.js';

interface TurnAt {
  readonly turnId: string;
  readonly threadId: string;
}

type Model = Extract<Preflighted, { kind: 'go' }>['extras'];

export type Before =
  | Extract<Preflighted, { kind: 'answered' }>
  | { readonly kind: 'go'; readonly extras: Model & { readonly knowledge?: string } };

export interface BeforeParts {
  readonly preflight: Pick<Preflight, 'before'>;
  readonly knowledge: Pick<Knowledge, 'before'>;
  /** Folds the thread; null, at once, when the turn fits. */
  fold(turn: TurnAt, signal: AbortSignal): Promise<void> | null;
}

/** Null, at once, when there is nothing to do. Never rejects. */
export function beforeTurn(
  parts: BeforeParts,
): (turn: TurnAt, signal: AbortSignal) => Promise<Before> | null {
  return (turn, signal) => {
    const looking = parts.preflight.before(turn, signal);
    const searching = parts.knowledge.before(turn, signal);
    if (looking !== null || searching !== null) return both(parts, turn, signal, looking, searching);
    const folding = parts.fold(turn, signal);
    return folding === null ? null : folding.then(() => ({ kind: 'go', extras: {} }));
  };
}

async function both(
  parts: BeforeParts,
  turn: TurnAt,
  signal: AbortSignal,
  looking: Promise<Preflighted> | null,
  searching: Promise<string> | null,
): Promise<Before> {
  const [looked, knowledge] = await Promise.all([looking, searching]);
  if (looked?.kind === 'answered') return looked;
  // After the look: it may have written notes, which count too.
  if (!signal.aborted) await parts.fold(turn, signal);
  const found = knowledge === null || knowledge === '' ? {} : { knowledge };
  return { kind: 'go', extras: { ...looked?.extras, ...found } };
}
