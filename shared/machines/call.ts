// A tool call is requested by the model, judged, and then either denied or run. A granted call that never reports is
// sealed as interrupted when its turn ends: what it did to the world is unknown, and it is never run again by itself.
//
//   requested ──grant──▶ running ──finish──▶ done
//       │                   └──seal──▶ interrupted
//       ├──deny──▶ denied
//       └──seal──▶ not_started
import type { Machine } from '../state-machine.js';

export const CALL_STATES = ['requested', 'running', 'done', 'denied', 'interrupted', 'not_started'] as const;
export type CallState = (typeof CALL_STATES)[number];
export type CallTransition = 'grant' | 'finish' | 'deny' | 'seal';

export const CALL: Machine<CallState, CallTransition> = {
  requested: { grant: 'running', deny: 'denied', seal: 'not_started' },
  running: { finish: 'done', seal: 'interrupted' },
  done: {},
  denied: {},
  interrupted: {},
  not_started: {},
};
