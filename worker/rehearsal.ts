// Throw-away turns before a spare is handed out: they make the host compile what a turn runs, so that the turn does not
// wait for it. Everything in them is made up and stays in this process: the model is a stand-in, the supervisor's end of
// the link answers by itself, no tool runs, no frame leaves. A rehearsal that fails costs a few milliseconds later on.
import type { Clock } from '../shared/clock.js';
import { encodeFrame, FrameReader } from '../shared/ipc/codec.js';
import { parseFrame } from '../shared/ipc/parse-frame.js';
import type { ToSupervisor } from '../shared/ipc/to-supervisor.js';
import { type ToWorker, toWorker } from '../shared/ipc/to-worker.js';
import type { ModelSettings, TurnSnapshot } from '../shared/ipc/turn-snapshot.js';
import type { Reply } from './control.js';
import { type IpcLinkParts, makeIpcLink } from './ipc-link.js';
import { providerFor } from './models/registry.js';
import { openStandIn } from './stand-in.js';
import { runTurn } from './turn-loop.js';

const TOOL = 'list_dir';
/** Two rounds each. */
const TURNS = 2;

/** Plays a few turns of two rounds, a call and an answer, in the dialect of these settings; fewer when the real one comes. Rejects never. */
export async function rehearse(settings: ModelSettings, clock: Clock, over: () => boolean): Promise<void> {
  const { dialect } = settings;
  // A decision has no rounds to rehearse.
  if (dialect === 'decision') return;
  const standIn = dialect === 'builtin' ? null : await openStandIn(dialect, TOOL);
  if (standIn === null && dialect !== 'builtin') return;
  const model = { ...settings, url: standIn?.url ?? '', headers: {}, retries: 0 };
  try {
    for (let turn = 0; turn < TURNS && !over(); turn += 1) await playTurn(model, clock);
  } catch {
    // Said above: nothing depends on it.
  } finally {
    standIn?.close();
  }
}

async function playTurn(model: ModelSettings, clock: Clock): Promise<void> {
  const aws = { region: 'rehearsal', access_key_id: 'rehearsal', secret_access_key: 'rehearsal' };
  const credentials = { token: 'rehearsal', headers: {}, aws, mask: ['rehearsal'] };
  const frame = throughTheWire({ type: 'turn', snapshot: madeUp(model), credentials });
  if (frame === null) return;
  const { signal } = new AbortController();
  const { snapshot } = frame;
  const runTool = (): ReturnType<IpcLinkParts['runTool']> =>
    Promise.resolve({ content: { entries: [] }, is_error: false });
  const link = makeIpcLink({ control: echo(), clock, signal, snapshot, credentials, runTool });
  const provider = providerFor(snapshot.model, clock);
  await provider.preconnect(snapshot.model, undefined);
  await runTurn({ snapshot, credentials, link, provider, clock });
  link.flush();
  provider.close();
}

/** Encodes, reads and checks a frame as the wire would. */
function throughTheWire<T extends ToWorker>(frame: T): T | null {
  const encoded = encodeFrame(frame);
  if (!encoded.ok) return null;
  const reader = new FrameReader();
  reader.push(encoded.bytes);
  const read = reader.read();
  const parsed = read.kind === 'value' ? parseFrame(toWorker, read.value) : null;
  return parsed?.ok && parsed.frame.type === frame.type ? (parsed.frame as T) : null;
}

/** A supervisor's end that grants and commits everything at once. */
function echo(): IpcLinkParts['control'] {
  let last: ToSupervisor | null = null;
  const answer = (id: number): Reply => {
    if (last?.type === 'tool_request') return { type: 'tool_granted', id, arguments: last.arguments };
    if (last?.type === 'budget_request') return { type: 'budget_answer', id, answer: { kind: 'go' } };
    return { type: 'tool_committed', id };
  };
  return {
    congested: false,
    send: (frame) => {
      last = frame;
      const encoded = encodeFrame(frame);
      return encoded.ok ? null : encoded.message;
    },
    reply: (id) => Promise.resolve().then(() => throughTheWire(answer(id))),
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
        description: 'rehearsal',
        input_schema: { type: 'object', properties: { path: { type: 'string' } } },
        runs: 'worker',
        read_only: true,
        polls: false,
      },
    ],
    model,
    limits: {
      rounds: 10,
      tokens: 1_000_000,
      deadline_ms: 10_000,
      loop_repeats: 10,
      tool_output_bytes: 65_536,
      spill_bytes: 65_536,
      file_bytes: 65_536,
      exec_timeout_ms: 1_000,
      exec_timeout_max_ms: 1_000,
      exec_yield_ms: 1_000,
      parallel_calls: 2,
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
