// The frozen input of a thought: a prompt, what it is about, the form of its answer, and no tools.
import { newId } from '../../shared/ids.js';
import {
  DECISION,
  type ModelSettings,
  type SecuritySnapshot,
  type TurnCredentials,
  type TurnLimits,
  type TurnSnapshot,
} from '../../shared/ipc/turn-snapshot.js';
import type { ThinkRequest } from '../context/thinker.js';

/** The first answer, and the two askings again of one that does not fit its schema. A decision model says the same again. */
const ROUNDS = 3;

/** The model that answers, and who goes on in its place. */
export interface ThinkModel {
  readonly settings: ModelSettings;
  readonly fallbacks: readonly ModelSettings[];
  /** Of both, and what to mask. */
  readonly credentials: TurnCredentials;
}

export interface ThinkScene {
  readonly instance: string;
  readonly workspaceRoot: string;
  readonly security: SecuritySnapshot;
  /** A budget is set: the worker asks before each model call. */
  readonly budgetAdmission: boolean;
}

export function thinkSnapshot(
  scene: ThinkScene,
  request: ThinkRequest,
  { settings, fallbacks }: ThinkModel,
  marker: string,
  nowMs: number,
): TurnSnapshot {
  const { turnId, threadId, output_schema } = request;
  return {
    turn_id: turnId,
    thread_id: threadId,
    instance: scene.instance,
    idempotency_prefix: `${scene.instance}/${threadId}#${turnId}/${newId('call', nowMs)}`,
    system_prompt: request.system_prompt,
    messages: [...request.messages],
    tools: [],
    model: capped(settings, request),
    limits: {
      ...WITHOUT_TOOLS,
      rounds: settings.dialect === DECISION ? 1 : ROUNDS,
      deadline_ms: request.deadline_ms,
    },
    ...(fallbacks.length === 0 ? {} : { fallbacks: fallbacks.map((next) => capped(next, request)) }),
    security: scene.security,
    workspace_root: scene.workspaceRoot,
    spool_dir: '',
    process_marker: marker,
    budget_admission: scene.budgetAdmission,
    ...(output_schema === undefined ? {} : { output_schema }),
  };
}

function capped(settings: ModelSettings, { max_output_tokens }: ThinkRequest): ModelSettings {
  return { ...settings, max_output_tokens };
}

/** Nothing is run, so what bounds tools is nothing; tokens are bounded by rounds and by the output cap of each. */
const WITHOUT_TOOLS: Omit<TurnLimits, 'deadline_ms' | 'rounds'> = {
  tokens: Number.MAX_SAFE_INTEGER,
  loop_repeats: ROUNDS,
  tool_output_bytes: 0,
  spill_bytes: 0,
  file_bytes: 0,
  exec_timeout_ms: 0,
  exec_timeout_max_ms: 0,
  exec_yield_ms: 0,
  parallel_calls: 1,
  fetch_bytes: 0,
  fetch_ms: 0,
};
