// A turn as clients see it: its state in their words, and how it is started, ended and read.
import * as v from 'valibot';
import { type TurnStatus, turnStatus } from '../outcome.js';
import { count, givenId, named, whole } from './named.js';
import { type TurnPermissionProfileSnapshot, turnPermissionProfileSnapshot } from './permission.js';
import { turnItemEvent } from './turn-event.js';
import { turnStartFields } from './turn-input.js';

const turnProtocolStatus = named(
  'TurnStatus',
  v.picklist(['InProgress', 'Completed', 'Failed', 'Interrupted', 'Blocked']),
);
export type TurnProtocolStatus = v.InferOutput<typeof turnProtocolStatus>;

export const turn = named(
  'Turn',
  v.object({
    id: v.string(),
    status: turnProtocolStatus,
    turn_kind: v.optional(v.picklist(['conversation', 'task_run']), 'conversation'),
    origin: v.optional(v.picklist(['user', 'scheduled_task', 'detached_task', 'attached_task']), 'user'),
    error: v.nullish(v.string()),
    permission_profile: turnPermissionProfileSnapshot,
    outcome: v.nullish(
      v.pipe(turnStatus, v.description('How it ended, in full: `status` cannot tell all ends apart.')),
    ),
    error_code: v.nullish(v.pipe(v.string(), v.description('Stable name of what `error` says in words.'))),
    waiting: v.nullish(
      v.pipe(v.string(), v.description('What an unfinished turn waits for; absent while it runs.')),
    ),
  }),
);
export type Turn = v.InferOutput<typeof turn>;

/** The engine's eight ends in the five words of the protocol. */
export function protocolStatus(outcome: TurnStatus | null): TurnProtocolStatus {
  switch (outcome) {
    case null:
      return 'InProgress';
    case 'completed':
      return 'Completed';
    case 'cancelled':
      return 'Interrupted';
    case 'exhausted_steps':
    case 'exhausted_tokens':
      return 'Blocked';
    case 'failed':
    case 'refused':
    case 'deadline':
    case 'loop_detected':
      return 'Failed';
  }
}

export interface TurnFacts {
  readonly id: string;
  readonly origin: Turn['origin'];
  readonly profile: TurnPermissionProfileSnapshot;
}

/** `end` is null while the turn is under way. */
export function turnView(
  { id, origin, profile }: TurnFacts,
  end: { readonly outcome: TurnStatus; readonly code?: string; readonly message?: string } | null,
): Turn {
  return {
    id,
    status: protocolStatus(end?.outcome ?? null),
    turn_kind: 'conversation',
    origin,
    permission_profile: profile,
    ...(end === null ? {} : { outcome: end.outcome }),
    ...(end?.message === undefined ? {} : { error: end.message }),
    ...(end?.code === undefined ? {} : { error_code: end.code }),
  };
}

const address = { thread_id: givenId, turn_id: givenId };
const found = { thread_id: v.string(), workspace_id: v.string(), turn };

export const turnStartParams = named('TurnStartParams', v.object({ ...address, ...turnStartFields }));
export type TurnStartParams = v.InferOutput<typeof turnStartParams>;
export const turnStartResponse = named('TurnStartResponse', v.object({ turn }));

export const turnCancelParams = named(
  'TurnCancelParams',
  v.object({ ...address, reason: v.nullish(v.string()) }),
);
export const turnCancelResponse = named('TurnCancelResponse', v.object(found));

export const turnGetParams = named('TurnGetParams', v.object(address));
export const turnGetResponse = named('TurnGetResponse', v.object(found));

export const turnItemsParams = named(
  'TurnItemsParams',
  v.object({
    ...address,
    after_sequence: v.nullish(
      v.pipe(count, v.description('Only what came after it: the last one that the client has.')),
    ),
  }),
);
export const turnItemsResponse = named(
  'TurnItemsResponse',
  v.object({
    thread_id: v.string(),
    workspace_id: v.string(),
    turn_id: v.string(),
    events: v.optional(v.array(turnItemEvent), []),
    last_sequence: whole,
  }),
);
