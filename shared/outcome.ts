// The eight ends of a turn, as one closed list for both processes, the store and the exit codes.
import * as v from 'valibot';

export const TURN_STATUSES = [
  'completed',
  'failed',
  'cancelled',
  'refused',
  'exhausted_steps',
  'exhausted_tokens',
  'deadline',
  'loop_detected',
] as const;

export type TurnStatus = (typeof TURN_STATUSES)[number];
export const turnStatus = v.picklist(TURN_STATUSES);

/** Why a turn is ended from outside. Every reason goes through the one kill ladder. */
const END_REASONS = ['cancel', 'deadline', 'stuck', 'drain', 'operator', 'protocol', 'park'] as const;
export type EndReason = (typeof END_REASONS)[number];
export const endReason = v.picklist(END_REASONS);
