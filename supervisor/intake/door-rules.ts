// Who may send what where, and how much may wait. Refusals are values: nobody is hurt, nothing is written.
import type { Failure } from '../../shared/errors.js';
import type { Store } from '../store/types.js';

/** The operator, and work that acts for nobody, reach every thread. */
export const OPERATOR = 'operator';
const NOBODY = '';

export interface DoorRules {
  readonly maxMessageDepth: number;
  readonly perPrincipal: number;
  readonly total: number;
  /** Messages that wait for their turn now: of one sender, and in all. */
  waiting(principal: string): { readonly ofPrincipal: number; readonly total: number };
}

export interface Refusal extends Failure {
  readonly ok: false;
  readonly code: 'queue_full' | 'not_owner' | 'too_many_hops' | 'id_taken';
}

interface Asking {
  readonly threadId: string;
  readonly principal: string;
  readonly hop?: number;
}

/** Null when the message may come in. */
export function refusalOf(store: Store, message: Asking, rules: DoorRules): Refusal | null {
  const { threadId, principal, hop = 0 } = message;
  if (hop > rules.maxMessageDepth)
    return refusal(
      'too_many_hops',
      `this message follows from ${hop} others in a row, and at most ${rules.maxMessageDepth} may`,
    );
  const thread = store.threads.get(threadId);
  if (thread !== undefined && !mayWrite(thread.owner, principal))
    return refusal('not_owner', `thread ${threadId} belongs to somebody else`);
  const { ofPrincipal, total } = rules.waiting(principal);
  if (ofPrincipal >= rules.perPrincipal)
    return refusal('queue_full', `${ofPrincipal} messages of this sender wait already; try again later`);
  if (total >= rules.total) return refusal('queue_full', `${total} messages wait already; try again later`);
  return null;
}

function mayWrite(owner: string, principal: string): boolean {
  return principal === OPERATOR || principal === NOBODY || principal === owner;
}

function refusal(code: Refusal['code'], message: string): Refusal {
  return { ok: false, code, message };
}
