// How turns end that have no worker: asked to end while they waited, or not let start. Pure.
import type { Stop } from '../budgets/governor.js';
import type { TurnRow } from '../store/rows.js';
import type { Ending } from './settle.js';

/** A turn that was parked has a past. */
export function cancelledInQueue({ rounds, tool_calls: toolCalls, windows }: TurnRow): Ending {
  const message =
    windows > 0 ? 'the turn was cancelled while it waited' : 'the turn was cancelled before it started';
  return {
    reply: '',
    rounds,
    toolCalls,
    lostCall: null,
    status: 'cancelled',
    error: { code: 'cancelled', message },
  };
}

export function endingOfStop({ code, failed, reason: message }: Stop): Ending {
  return {
    reply: '',
    rounds: 0,
    toolCalls: 0,
    lostCall: null,
    status: failed ? 'failed' : code,
    error: { code, message },
    notRun: true,
  };
}
