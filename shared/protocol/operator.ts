// What an operator asks of a running daemon: how it stands, what it works on, and to hold, go on or end.
import * as v from 'valibot';
import { TURN_STATES } from '../machines/turn.js';
import { count, givenId, named, whole } from './named.js';

export const daemonStatus = named(
  'DaemonStatus',
  v.object({
    state: v.pipe(
      v.picklist(['running', 'paused', 'draining']),
      v.description('Whether turns are started: paused ones wait, a draining daemon ends when none is left.'),
    ),
    version: v.string(),
    pid: whole,
    state_dir: v.string(),
    workspace_id: v.string(),
    workspace_root: v.string(),
    model: v.string(),
    started_at_unix_ms: whole,
    uptime_ms: count,
    turns: v.object({ running: count, queued: count, parked: count }),
    questions: v.pipe(count, v.description('Questions to a person that nobody has answered yet.')),
    connections: count,
    holds: v.pipe(
      v.array(v.string()),
      v.description('Why no turn starts at the moment; empty when they do.'),
    ),
    memory_bytes: count,
  }),
);
export type DaemonStatus = v.InferOutput<typeof daemonStatus>;

export const liveTurn = named(
  'LiveTurn',
  v.object({
    turn_id: v.string(),
    thread_id: v.string(),
    state: v.pipe(
      v.picklist([...TURN_STATES, 'parked']),
      v.description('`parked` waits for an answer or a time.'),
    ),
    producer: v.string(),
    pid: v.nullish(whole),
    pgid: v.nullish(whole),
    age_ms: v.pipe(count, v.description('Since it was accepted.')),
    round: count,
    tool: v.nullish(v.pipe(v.string(), v.description('The call that is open, if one is.'))),
    tokens: count,
    memory_bytes: v.nullish(count),
    model: v.string(),
  }),
);
export type LiveTurn = v.InferOutput<typeof liveTurn>;

const nothing = {};
export const operatorStatusParams = named('OperatorStatusParams', v.object(nothing));
export const operatorPauseParams = named('OperatorPauseParams', v.object(nothing));
export const operatorResumeParams = named('OperatorResumeParams', v.object(nothing));
export const operatorDrainParams = named('OperatorDrainParams', v.object(nothing));
export const operatorTurnsParams = named('OperatorTurnsParams', v.object(nothing));
export const operatorTurnsResponse = named('OperatorTurnsResponse', v.object({ turns: v.array(liveTurn) }));

export const operatorKillParams = named(
  'OperatorKillParams',
  v.object({
    turn_id: givenId,
    now: v.optional(v.pipe(v.boolean(), v.description('Skip the grace: straight to the last step.')), false),
  }),
);
export const operatorKillResponse = named(
  'OperatorKillResponse',
  v.object({
    turn_id: v.string(),
    thread_id: v.string(),
    outcome: v.pipe(v.string(), v.description('How the turn ended.')),
    killed: v.pipe(v.boolean(), v.description('False when it had ended before.')),
  }),
);
