// The frozen input of a thought: a prompt, what it is about, the form of its answer, and no tools.
import { newId } from '../../shared/ids.js';
import type {
  ModelSettings,
  SecuritySnapshot,
  TurnLimits,
  TurnSnapshot,
} from '../../shared/ipc/turn-snapshot.js';
import type { ThinkRequest } from '../context/thinker.js';

/** The first answer, and the two askings again of one that does not fit its schema. */
const ROUNDS = 3;

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
  model: ModelSettings,
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
    model: { ...model, max_output_tokens: request.max_output_tokens },
    limits: { ...WITHOUT_TOOLS, deadline_ms: request.deadline_ms },
    security: scene.security,
    workspace_root: scene.workspaceRoot,
    spool_dir: '',
    process_marker: marker,
    budget_admission: scene.budgetAdmission,
    ...(output_schema === undefined ? {} : { output_schema }),
  };
}

/** Nothing is run, so what bounds tools is nothing; tokens are bounded by rounds and by the output cap of each. */
const WITHOUT_TOOLS: Omit<TurnLimits, 'deadline_ms'> = {
  rounds: ROUNDS,
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
