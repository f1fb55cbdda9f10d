// A `turn` frame with everything in it; a test says only what matters to it.
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { ModelSettings, TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';

type TurnFrame = Extract<ToWorker, { type: 'turn' }>;

export const MODEL: ModelSettings = {
  dialect: 'builtin',
  model: 'builtin',
  url: '',
  headers: {},
  max_output_tokens: 0,
  temperature: null,
  omit: [],
  connect_ms: 1_000,
  first_byte_ms: 5_000,
  idle_ms: 5_000,
  call_ms: 10_000,
  retries: 0,
  retry_after_max_ms: 1_000,
};

export function turnSnapshot(change: Partial<TurnSnapshot> = {}): TurnSnapshot {
  return {
    turn_id: 'turn_1',
    thread_id: 'root',
    instance: 'instance_1',
    idempotency_prefix: 'instance_1/root#turn_1',
    system_prompt: 'Be brief.',
    messages: [{ role: 'user', text: 'Hello' }],
    tools: [],
    model: MODEL,
    limits: {
      rounds: 20,
      tokens: 1_000_000,
      deadline_ms: 60_000,
      loop_repeats: 4,
      tool_output_bytes: 65_536,
      spill_bytes: 1_000_000,
      file_bytes: 1_000_000,
      exec_timeout_ms: 10_000,
      exec_timeout_max_ms: 10_000,
      exec_yield_ms: 10_000,
      parallel_calls: 4,
      fetch_bytes: 1_000_000,
      fetch_ms: 5_000,
    },
    security: { mode: 'full_access', source: 'default', containment: [], web_allow_private: [] },
    workspace_root: '/tmp',
    spool_dir: '/tmp',
    process_marker: 'worker_1',
    budget_admission: false,
    ...change,
  };
}

export function turnFrame(change: Partial<TurnSnapshot> = {}, mask: readonly string[] = []): TurnFrame {
  return { type: 'turn', snapshot: turnSnapshot(change), credentials: { headers: {}, mask: [...mask] } };
}
