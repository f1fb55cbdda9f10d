// Plays one turn in process: the real loop over the memory link and a scripted model. What a test sets is what matters;
// everything else has a plain default. Rules that hold for every turn are checked here, in every test.
import assert from 'node:assert';
import type { TurnOutcome } from '../../shared/ipc/to-supervisor.js';
import type { ModelSettings, TurnCredentials, TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { EndReason } from '../../shared/outcome.js';
import type { PlannedTool } from '../../shared/tools/tool-plan.js';
import { messagesOf } from '../../shared/transcript/from-journal.js';
import type { Message } from '../../shared/transcript/message.js';
import { repairHistory } from '../../shared/transcript/repair.js';
import { runTurn } from '../../worker/turn-loop.js';
import { FakeClock } from './fake-clock.js';
import { brokenHistory } from './history-rules.js';
import { MemoryLink, type MemoryLinkOptions } from './memory-link.js';
import { type ModelStep, ScriptedProvider } from './scripted-provider.js';

interface PlayOptions extends MemoryLinkOptions {
  readonly steps: readonly ModelStep[];
  readonly plan?: readonly PlannedTool[];
  readonly limits?: Partial<TurnSnapshot['limits']>;
  readonly snapshot?: Partial<TurnSnapshot>;
  readonly credentials?: Partial<TurnCredentials>;
  /** Ends the turn before it begins. */
  readonly endFirst?: EndReason;
}

interface Played {
  readonly outcome: TurnOutcome;
  readonly link: MemoryLink;
  readonly provider: ScriptedProvider;
  readonly journal: readonly JournalEvent[];
  /** What the next turn would send. */
  readonly history: readonly Message[];
  /** Results in order of their calls. */
  readonly results: readonly Extract<Message, { role: 'tool' }>[];
}

interface Running {
  readonly clock: FakeClock;
  readonly link: MemoryLink;
  readonly provider: ScriptedProvider;
  readonly played: Promise<Played>;
}

export const SETTINGS: ModelSettings = {
  dialect: 'openai',
  model: 'scripted',
  url: 'http://127.0.0.1:9/v1/chat/completions',
  headers: {},
  max_output_tokens: 0,
  temperature: null,
  omit: [],
  connect_ms: 1_000,
  first_byte_ms: 1_000,
  idle_ms: 1_000,
  call_ms: 1_000,
  retries: 0,
  retry_after_max_ms: 0,
};

const LIMITS: TurnSnapshot['limits'] = {
  rounds: 20,
  tokens: 1_000_000,
  deadline_ms: 60_000,
  loop_repeats: 4,
  tool_output_bytes: 65_536,
  spill_bytes: 1_000_000,
  file_bytes: 1_000_000,
  exec_timeout_ms: 10_000,
  exec_timeout_max_ms: 10_000,
  exec_yield_ms: 1_000,
  parallel_calls: 4,
  fetch_bytes: 1_000,
  fetch_ms: 1_000,
};

/** A tool that takes anything. `read`, `write` and `poll` name its kind. */
export function plannedTool(
  name: string,
  kind: 'read' | 'write' | 'poll',
  required: readonly string[] = [],
): PlannedTool {
  return {
    name,
    wire_name: name.replaceAll('.', '_'),
    description: `the tool ${name}`,
    input_schema: {
      type: 'object',
      properties: {},
      ...(required.length > 0 ? { required: [...required] } : {}),
    },
    runs: name === 'finish' ? 'supervisor' : 'worker',
    read_only: kind !== 'write',
    polls: kind === 'poll',
  };
}

export const TOOLS: readonly PlannedTool[] = [
  plannedTool('read_file', 'read', ['path']),
  plannedTool('write_file', 'write', ['path']),
  plannedTool('status', 'poll'),
  plannedTool('plan.get', 'read'),
  plannedTool('finish', 'write'),
];

/** Starts a turn and hands over its clock and link, for tests that act while it runs. */
export function startTurn(options: PlayOptions): Running {
  const clock = new FakeClock();
  const link = new MemoryLink(options);
  if (options.endFirst !== undefined) link.end(options.endFirst);
  const provider = new ScriptedProvider(options.steps);
  const snapshot: TurnSnapshot = {
    turn_id: 'turn_1',
    thread_id: 'root',
    instance: 'desk',
    idempotency_prefix: 'desk/root#turn_1',
    system_prompt: 'You are a test.',
    messages: [{ role: 'user', text: 'go' }],
    tools: [...(options.plan ?? TOOLS)],
    model: SETTINGS,
    limits: { ...LIMITS, ...options.limits },
    security: { mode: 'full_access', source: 'default', containment: [], web_allow_private: [] },
    workspace_root: '/nowhere',
    spool_dir: '/nowhere',
    process_marker: 'turn_1',
    budget_admission: false,
    ...options.snapshot,
  };
  const credentials = { headers: {}, mask: [], ...options.credentials };
  const run = runTurn({ snapshot, credentials, link, provider, clock });
  return {
    clock,
    link,
    provider,
    played: run.then((outcome) => account(outcome, { clock, link, provider, snapshot })),
  };
}

export function playTurn(options: PlayOptions): Promise<Played> {
  return startTurn(options).played;
}

/** What holds for every turn, whatever its end. */
function account(outcome: TurnOutcome, parts: Omit<Running, 'played'> & { snapshot: TurnSnapshot }): Played {
  const { clock, link, provider, snapshot } = parts;
  assert.deepEqual(provider.problems, [], 'every request could be sent');
  assert.equal(clock.waiting, 0, 'no timer is left behind');
  assert.equal(
    outcome.status === 'completed',
    outcome.error === undefined,
    'every end but completed says why',
  );
  const usages = link.told('usage').map((event) => event.call_index);
  assert.deepEqual(
    usages,
    provider.requests.map((_, index) => (snapshot.prior?.rounds ?? 0) + index + 1),
    'every model call is charged once',
  );
  const journal = link.settle(outcome);
  for (const event of journal)
    if (event.kind === 'assistant_message')
      assert(event.text !== '' || event.calls.length > 0, 'no empty answer is stored');
  const calls = journal.flatMap((event) => (event.kind === 'assistant_message' ? event.calls : []));
  const answered = journal.flatMap((event) => (event.kind === 'tool_result' ? [event.call_id] : []));
  assert.deepEqual(
    answered.toSorted(),
    calls.map((call) => call.call_id).toSorted(),
    'every call has exactly one result',
  );
  const history = repairHistory([...snapshot.messages, ...messagesOf(journal)]);
  assert.deepEqual(brokenHistory(history), [], 'the next turn can be sent');
  return {
    outcome,
    link,
    provider,
    journal,
    history,
    results: history.filter((message) => message.role === 'tool'),
  };
}
