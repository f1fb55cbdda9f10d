// A turn waits in the queue, is started (a worker has it), runs, is stopped when something asks for its end, and
// ends in exactly one of the eight statuses. What asks: a cancel, the deadline, a stuck worker, a drain, an operator.
//
// A turn that waits for long, or whose supervisor was lost, goes back to the queue and on from its journal: `requeue`.
//
//   queued ──dispatch──▶ starting ──ready──▶ running ──settle──▶ ended
//     ▲                     │                   │
//     └───────requeue───────┴───────────────────┘
//     │                     │                   │
//     └──settle──▶ ended    └──stop──▶ stopping ◀──stop──┘        stopping ──settle──▶ ended
//
// `ended` carries the status beside it; it is the only state that nothing leaves.
import type { Machine } from '../state-machine.js';

export const TURN_STATES = ['queued', 'starting', 'running', 'stopping', 'ended'] as const;
export type TurnState = (typeof TURN_STATES)[number];
export type TurnTransition = 'dispatch' | 'ready' | 'stop' | 'requeue' | 'settle';

export const TURN: Machine<TurnState, TurnTransition> = {
  queued: { dispatch: 'starting', settle: 'ended' },
  starting: { ready: 'running', requeue: 'queued', stop: 'stopping', settle: 'ended' },
  running: { requeue: 'queued', stop: 'stopping', settle: 'ended' },
  stopping: { stop: 'stopping', settle: 'ended' },
  ended: {},
};
