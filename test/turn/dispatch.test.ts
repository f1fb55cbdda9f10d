// The supervisor's half of a turn, on a real store, with a worker that the test plays by hand.
import t, { type Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { ToSupervisor } from '../../shared/ipc/to-supervisor.js';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { ModelSettings, TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JournalEvent } from '../../shared/journal.js';
import { makeMasker } from '../../shared/mask.js';
import type { EndReason } from '../../shared/outcome.js';
import type { PermissionMode } from '../../shared/policy/permission-mode.js';
import { recover } from '../../supervisor/dispatch/recover.js';
import { makeScheduler, type Scheduler } from '../../supervisor/dispatch/scheduler.js';
import { acceptMessage } from '../../supervisor/intake/accept-message.js';
import type { WorkerExit, WorkerHandle } from '../../supervisor/processes/types.js';
import { toolPlan } from '../../supervisor/snapshot/tool-plan.js';
import { transcriptSlice } from '../../supervisor/snapshot/transcript-slice.js';
import { openStore } from '../../supervisor/store/open.js';
import type { Store } from '../../supervisor/store/types.js';
import type { Ask, LiveEvent } from '../../supervisor/tools/running-turn.js';

const SETTINGS: ModelSettings = {
  dialect: 'builtin',
  model: 'scripted',
  url: '',
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
  rounds: 10,
  tokens: 100_000,
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

/** A worker played by the test: it records what it is sent, says what it is told, dies when it is told. */
class PlayedWorker implements WorkerHandle {
  readonly workerId = 'worker_played';
  readonly pid = 999_999;
  readonly pidStart = '1';
  readonly marker = 'worker_played';
  readonly prepared = false;
  readonly sent: ToWorker[] = [];
  readonly ends: EndReason[] = [];
  readonly ended: Promise<WorkerExit>;
  die: (exit: Partial<WorkerExit>) => void = () => undefined;
  private listener: (frame: ToSupervisor) => void = () => undefined;

  constructor() {
    this.ended = new Promise((resolve) => {
      this.die = (exit) => resolve({ code: 0, signal: null, fault: null, swept: 0, prints: '', ...exit });
    });
  }
  send(frame: ToWorker): boolean {
    this.sent.push(frame);
    return true;
  }
  drained(): Promise<void> {
    return Promise.resolve();
  }
  onFrame(listener: (frame: ToSupervisor) => void): void {
    this.listener = listener;
  }
  end(reason: EndReason): void {
    this.ends.push(reason);
  }
  say(frame: ToSupervisor): void {
    this.listener(frame);
  }
}

interface Stage {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly live: LiveEvent[];
  readonly workers: PlayedWorker[];
  accept(text: string, thread?: string): string;
  kinds(turnId: string): string[];
}

function stage(
  t: Test,
  options: { mode?: PermissionMode; ask?: Ask; takeLater?: Promise<void>; cap?: number } = {},
): Stage {
  const opened = openStore({ dir: `${t.testdir({})}/state`, on_damage: 'stop', nowMs: 1 });
  if (!opened.ok) throw new Error(opened.failure.message);
  const { store } = opened;
  t.teardown(() => store.close());
  const live: LiveEvent[] = [];
  const workers: PlayedWorker[] = [];
  const scheduler = makeScheduler(
    {
      store,
      clock: systemClock,
      masker: makeMasker(['canary-secret']),
      ask: options.ask ?? (() => Promise.resolve('nobody')),
      live: (_turn, event) => live.push(event),
      log: () => undefined,
      optionRefused: () => undefined,
      pool: {
        start: () => undefined,
        target: () => undefined,
        close: () => Promise.resolve(),
        take: async () => {
          await options.takeLater;
          const worker = new PlayedWorker();
          workers.push(worker);
          return worker;
        },
      },
      freeze: ({ turnId, threadId }, marker) => ({
        hash: 'hash',
        credentials: { headers: {}, mask: [] },
        snapshot: {
          turn_id: turnId,
          thread_id: threadId,
          instance: 'test',
          idempotency_prefix: `test/${threadId}#${turnId}`,
          system_prompt: '',
          messages: transcriptSlice(store, threadId, turnId),
          tools: [...toolPlan()],
          model: SETTINGS,
          limits: LIMITS,
          security: {
            mode: options.mode ?? 'full_access',
            source: 'default',
            containment: [],
            web_allow_private: [],
          },
          workspace_root: '/',
          spool_dir: `${store.dir}/spool`,
          process_marker: marker,
          budget_admission: false,
        },
      }),
    },
    options.cap ?? 4,
  );
  return {
    store,
    scheduler,
    live,
    workers,
    accept: (text, threadId = 'root') => {
      const message = { threadId, workspaceRoot: '/', principal: 'operator', text };
      const { turnId } = acceptMessage(store, systemClock, message);
      scheduler.wake();
      return turnId;
    },
    kinds: (turnId) => store.events.ofTurn(turnId).map(({ event }) => event.kind),
  };
}

/** Lets everything that is ready run. */
const settleDown = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

async function worker(stage: Stage, index = 0): Promise<PlayedWorker> {
  await settleDown();
  const found = stage.workers[index];
  if (found === undefined) throw new Error('no worker was taken');
  return found;
}

const done = (
  status: 'completed' | 'failed' | 'cancelled' = 'completed',
  reply = 'the answer',
): ToSupervisor => ({
  type: 'turn_done',
  outcome: { status, reply, rounds: 1, tool_calls: 0 },
});

const assistant = (
  calls: { call_id: string; name: string; arguments: Record<string, string> }[],
): ToSupervisor => ({
  type: 'progress',
  progress: {
    event: 'assistant',
    item_id: 'item_1',
    round: 1,
    text: '',
    calls,
    stop: 'tool_calls',
    model: 'm',
  },
});

const request = (id: number, callId: string, tool: string, args: Record<string, string>): ToSupervisor => ({
  type: 'tool_request',
  id,
  call_id: callId,
  round: 1,
  index: id,
  tool,
  arguments: args,
});

t.test('a turn is queued, starts, runs and ends, each step durable before the next', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  t.equal(s.store.turns.get(id)?.state, 'queued');
  const w = await worker(s);
  t.match(s.store.turns.get(id), {
    state: 'starting',
    worker_id: 'worker_played',
    pid: 999_999,
    snapshot_hash: 'hash',
  });
  t.equal(w.sent[0]?.type, 'turn');
  w.say({ type: 'progress', progress: { event: 'round', round: 1 } });
  t.equal(s.store.turns.get(id)?.state, 'running');
  w.say(done());
  const row = await s.scheduler.whenSettled(id);
  t.match(row, { state: 'ended', status: 'completed', reply: 'the answer' });
  t.same(s.store.inbox.pending(), []);
  t.equal(s.kinds(id).at(-1), 'turn_ended');
});

t.test('settle happens once, whatever arrives after it', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(done('completed', 'first'));
  w.say(done('failed', 'second'));
  w.die({ signal: 'SIGKILL', code: null });
  await settleDown();
  t.match(s.store.turns.get(id), { status: 'completed', reply: 'first' });
  t.equal(s.kinds(id).filter((kind) => kind === 'turn_ended').length, 1);
});

t.test('a worker that dies gives every open call one result, and the thread goes on', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  const call = (name: string) => ({
    call_id: `call_${name}`,
    name: 'exec_command',
    arguments: { command: 'true' },
  });
  w.say(assistant([call('running'), call('waiting')]));
  w.say(request(1, 'call_running', 'exec_command', { command: 'sleep 9' }));
  await settleDown();
  t.equal(w.sent.at(-1)?.type, 'tool_granted');
  w.die({ signal: 'SIGKILL', code: null });
  const row = await s.scheduler.whenSettled(id);
  t.match(row, { status: 'failed', error_code: 'worker_lost', error_message: /SIGKILL/ });
  const results = s.store.events
    .ofTurn(id)
    .map(({ event }) => event)
    .filter((event): event is Extract<JournalEvent, { kind: 'tool_result' }> => event.kind === 'tool_result');
  t.same(
    results.map(({ call_id, end }) => [call_id, end]),
    [
      ['call_running', 'interrupted'],
      ['call_waiting', 'not_started'],
    ],
  );
  const next = s.accept('and now?');
  const messages = transcriptSlice(s.store, 'root', next);
  t.match(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'note', 'user'],
  );
  t.equal(s.workers.length, 1, 'the thread takes the next turn only when the dead worker is gone');
  (await worker(s, 1)).say(done());
  t.equal((await s.scheduler.whenSettled(next)).status, 'completed');
});

t.test('the result of a call is committed before the model may see it', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(assistant([{ call_id: 'call_1', name: 'exec_command', arguments: {} }]));
  w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
  await settleDown();
  const granted = w.sent.at(-1);
  t.match(granted, { type: 'tool_granted', id: 1, arguments: { command: 'true' } });
  t.equal(s.store.calls.get('call_1')?.state, 'running');
  w.say({
    type: 'tool_result',
    id: 1,
    call_id: 'call_1',
    result: { content: { output: 'canary-secret here' }, is_error: false },
    duration_ms: 3,
  });
  t.same(w.sent.at(-1), { type: 'tool_committed', id: 1 });
  t.equal(s.store.calls.get('call_1')?.state, 'done');
  t.notMatch(
    JSON.stringify(s.store.events.ofTurn(id)),
    'canary-secret',
    'known secrets do not reach the journal',
  );
});

t.test('a result for a call that was never granted ends the worker as broken', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  const result = { content: 'x', is_error: false };
  w.say({ type: 'tool_result', id: 7, call_id: 'call_7', result, duration_ms: 1 });
  t.same(w.ends, ['protocol']);
  w.die({ signal: 'SIGKILL', code: null });
  t.match(await s.scheduler.whenSettled(id), { status: 'failed', error_code: 'protocol_violation' });
});

t.test('a call with unknown name or invalid arguments is refused before anything happens', async (t) => {
  const s = stage(t);
  s.accept('hello');
  const w = await worker(s);
  w.say(request(1, 'call_1', 'no_such_tool', {}));
  w.say(request(2, 'call_2', 'exec_command', { commando: 'true' }));
  await settleDown();
  t.match(w.sent.at(-2), { type: 'tool_answered', id: 1, result: { is_error: true } });
  t.match(w.sent.at(-1), {
    type: 'tool_answered',
    id: 2,
    result: { is_error: true, content: { error: /command/ } },
  });
  t.equal(s.store.calls.get('call_2')?.state, 'denied');
});

t.test('state tools change and record in one transaction', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(request(1, 'call_1', 'memory.set', { key: 'colour', value: 'green' }));
  await settleDown();
  t.match(w.sent.at(-1), { type: 'tool_answered', id: 1, result: { is_error: false } });
  t.equal(s.store.memory.get('colour', 1)?.value, 'green');
  t.same(s.kinds(id), ['user_message', 'tool_intent', 'tool_result']);
});

t.test('a restricted mode refuses what nobody can answer, and lists it', async (t) => {
  const s = stage(t, { mode: 'supervised' });
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
  w.say(request(2, 'call_2', 'read_file', { path: 'x' }));
  await settleDown();
  t.match(
    w.sent.find((frame) => frame.type === 'tool_answered'),
    { id: 1, result: { is_error: true } },
  );
  t.match(
    w.sent.find((frame) => frame.type === 'tool_granted'),
    { id: 2 },
  );
  t.match(s.scheduler.refusedCalls(id), [{ call_id: 'call_1', tool: 'exec_command' }]);
});

t.test('a yes that comes after the cancel runs nothing', async (t) => {
  let answer: (value: 'allow') => void = () => undefined;
  const ask: Ask = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const s = stage(t, { mode: 'supervised', ask });
  const id = s.accept('hello');
  const w = await worker(s);
  w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
  await settleDown();
  s.scheduler.requestEnd(id, 'cancel');
  answer('allow');
  await settleDown();
  t.notOk(w.sent.some((frame) => frame.type === 'tool_granted'));
});

t.test('a cancel', async (t) => {
  t.test('that comes while the worker starts sends it nothing', async (t) => {
    let arrive: () => void = () => undefined;
    const takeLater = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const s = stage(t, { takeLater });
    const id = s.accept('hello');
    t.ok(s.scheduler.requestEnd(id, 'cancel'));
    t.equal(s.store.turns.get(id)?.end_requested, 'cancel', 'durable before it returns');
    arrive();
    const w = await worker(s);
    t.same(w.sent, []);
    t.match(await s.scheduler.whenSettled(id), { status: 'cancelled' });
    t.ok(w.ends.length > 0, 'the unused worker is ended');
  });
  t.test('of a queued turn ends it without a worker', async (t) => {
    const s = stage(t, { cap: 1 });
    s.accept('first', 'a');
    const second = s.accept('second', 'b');
    await worker(s);
    s.scheduler.requestEnd(second, 'cancel');
    t.match(await s.scheduler.whenSettled(second), { status: 'cancelled', worker_id: null });
    t.equal(s.workers.length, 1);
  });
  t.test('outranks an answer that raced it, and is refused once the turn has ended', async (t) => {
    const s = stage(t);
    const id = s.accept('hello');
    const w = await worker(s);
    s.scheduler.requestEnd(id, 'cancel');
    w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
    await settleDown();
    t.match(w.sent.at(-1), { type: 'tool_answered', result: { is_error: true } }, 'no tool starts after it');
    w.say(done());
    t.match(await s.scheduler.whenSettled(id), { status: 'cancelled' });
    t.notOk(s.scheduler.requestEnd(id, 'cancel'));
  });
});

t.test('a model call whose answer never came is charged at its estimate', async (t) => {
  const s = stage(t);
  const id = s.accept('a message of some length to be estimated');
  const w = await worker(s);
  w.say({ type: 'progress', progress: { event: 'round', round: 1 } });
  w.die({ signal: 'SIGKILL', code: null });
  await s.scheduler.whenSettled(id);
  const usage = s.store.usage.ofTurn(id);
  t.ok(usage.input_tokens > 0);
  t.ok(usage.estimated);
});

t.test('recovery ends what an earlier supervisor left, once, and says what is known', async (t) => {
  const s = stage(t, { cap: 1 });
  const running = s.accept('running', 'a');
  const queued = s.accept('queued', 'b');
  const w = await worker(s);
  w.say(assistant([{ call_id: 'call_1', name: 'exec_command', arguments: {} }]));
  w.say(request(1, 'call_1', 'exec_command', { command: 'true' }));
  await settleDown();
  t.same(new Set(recover(s.store, 5).turns), new Set([running, queued]));
  t.match(s.store.turns.get(running), { status: 'failed', error_code: 'supervisor_lost' });
  t.match(s.store.turns.get(queued), { status: 'failed', error_message: /nothing was run/ });
  t.equal(s.store.calls.get('call_1')?.state, 'interrupted');
  t.same(recover(s.store, 6).turns, []);
});
