// One throw-away round before a spare is handed out: it makes the host compile what a turn runs, so that the turn does
// not wait for it. Everything in it is made up and stays in this process: no network, no files, no frames.
import type { Clock } from '../shared/clock.js';
import type { ModelSettings, TurnSnapshot } from '../shared/ipc/turn-snapshot.js';
import { NO_USAGE } from '../shared/transcript/usage.js';
import type { SupervisorLink } from './link.js';
import type { ModelAnswer, ModelProvider } from './models/provider.js';
import { runTurn } from './turn-loop.js';

const TOOL = 'list_dir';
const ROUNDS = 2;

/** Plays a turn of two rounds: a call and its result, then an answer. Rejects never. */
export async function rehearse(settings: ModelSettings, clock: Clock): Promise<void> {
  const link: SupervisorLink = {
    signal: new AbortController().signal,
    callTool: () => Promise.resolve({ content: { entries: [] }, is_error: false }),
    askBudget: () => Promise.resolve({ kind: 'go' }),
    progress: () => undefined,
  };
  const credentials = { headers: {}, mask: [] };
  try {
    await runTurn({ snapshot: madeUp(settings), credentials, link, provider: standIn(settings), clock });
  } catch {
    // A rehearsal that fails costs the next turn a few milliseconds and nothing else.
  }
}

function standIn(settings: ModelSettings): ModelProvider {
  let round = 0;
  return {
    call: (_request, onEvent) => {
      round += 1;
      const last = round >= ROUNDS;
      onEvent({ kind: 'text', text: 'rehearsal' });
      const answer: ModelAnswer = {
        text: last ? 'rehearsal' : '',
        calls: last ? [] : [{ provider_id: 'rehearsal', wire_name: TOOL, arguments_text: '{"path":"."}' }],
        reasoning: [],
        stop: last ? 'end' : 'tool_calls',
        usage: NO_USAGE,
        model: settings.model,
      };
      return Promise.resolve({ kind: 'answer', answer });
    },
    preconnect: () => Promise.resolve(false),
    close: () => undefined,
  };
}

function madeUp(model: ModelSettings): TurnSnapshot {
  return {
    turn_id: 'rehearsal',
    thread_id: 'rehearsal',
    instance: 'rehearsal',
    idempotency_prefix: 'rehearsal',
    system_prompt: 'rehearsal',
    messages: [{ role: 'user', text: 'rehearsal' }],
    tools: [
      {
        name: TOOL,
        wire_name: TOOL,
        description: '',
        input_schema: { type: 'object' },
        runs: 'worker',
        read_only: true,
        polls: false,
      },
    ],
    model,
    limits: {
      rounds: ROUNDS,
      tokens: 1_000_000,
      deadline_ms: 10_000,
      loop_repeats: 4,
      tool_output_bytes: 65_536,
      spill_bytes: 65_536,
      file_bytes: 65_536,
      exec_timeout_ms: 1_000,
      exec_timeout_max_ms: 1_000,
      exec_yield_ms: 1_000,
      parallel_calls: 1,
      fetch_bytes: 65_536,
      fetch_ms: 1_000,
    },
    security: { mode: 'full_access', source: 'default', containment: [], web_allow_private: [] },
    workspace_root: '/',
    spool_dir: '/',
    process_marker: 'rehearsal',
    budget_admission: false,
  };
}
