// Two hundred cancels at random moments of turns that queue, are prepared, run, wait, are parked and come back.
import t from 'tap';
import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { BeforeTurn } from '../../supervisor/dispatch/phases.js';
import { answer } from '../fakes/asking-turn.js';
import { assistant, done, request, type Stage, settleDown, stage } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';

type Pick = (below: number) => number;

/** The same numbers in each run. */
function numbersFrom(seed: number): Pick {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const STARTS = new Set<ToWorker['type']>(['turn', 'tool_granted', 'budget_answer']);

/** What the workers of a turn were let do. */
function startsOf(s: Stage, turnId: string): number {
  let starts = 0;
  for (const { sent } of s.workers) {
    const [first] = sent;
    if (first?.type === 'turn' && first.snapshot.turn_id === turnId)
      starts += sent.filter(({ type }) => STARTS.has(type)).length;
  }
  return starts;
}

const CALLS = [
  ['ask_human', { question: 'What?' }],
  ['exec_command', { command: 'x' }],
  ['sleep', { duration: '70ms' }],
] as const;

/** Lets something happen to somebody. */
function movesOf(s: Stage, clock: FakeClock, hooks: ((ready: BeforeTurn) => void)[], pick: Pick) {
  let calls = 0;
  const call = (): void => {
    const working = s.workers.filter(({ sent, ends }) => ends.length === 0 && sent.length > 0);
    const w = working[pick(working.length)];
    const [name, args] = CALLS[pick(CALLS.length)] ?? CALLS[0];
    if (w === undefined) return;
    calls += 1;
    w.say(assistant([{ call_id: `call_${calls}`, name, arguments: args }]));
    w.say(request(calls, `call_${calls}`, name, args));
  };
  const questions = () => s.store.waits.allOpen().filter(({ tool }) => tool === 'ask_human');
  const moves: readonly (() => unknown)[] = [
    () => clock.advance(pick(120)),
    () => hooks.shift()?.({ kind: 'go', extras: {} }),
    () => answer(s, questions()[0]?.wait_id ?? ''),
    call,
    call,
    () => {
      for (const w of s.workers) if (w.ends.length > 0 && pick(2) === 0) w.die({});
    },
    () => pick(4) === 0 && s.workers[pick(s.workers.length)]?.say(done()),
  ];
  return async (): Promise<void> => {
    await moves[pick(moves.length)]?.();
    if (pick(2) === 0) await settleDown();
  };
}

t.test('each cancel ends its turn, and nothing starts after it was accepted', async (t) => {
  const pick = numbersFrom(20_311);
  const clock = new FakeClock();
  const hooks: ((ready: BeforeTurn) => void)[] = [];
  const before = () => (pick(3) > 0 ? null : new Promise<BeforeTurn>((resolve) => void hooks.push(resolve)));
  const s = stage(t, { clock, cap: 3, deadlineMs: 360_000_000, parkAfterMs: 50, before });
  const move = movesOf(s, clock, hooks, pick);
  const cancelled = new Map<string, number>();
  const met = new Set<string>();
  const open: string[] = [];
  while (cancelled.size < 200) {
    open.push(s.accept('message', `thread_${pick(6)}`));
    for (let left = pick(6); left > 0; left -= 1) await move();
    const [id = ''] = open.length > 8 || pick(3) === 0 ? open.splice(pick(open.length), 1) : [];
    const { state, windows = 0 } = s.store.turns.get(id) ?? {};
    if (!s.scheduler.requestEnd(id, 'cancel')) continue;
    met.add(state === 'queued' && windows > 0 ? 'parked' : String(state));
    cancelled.set(id, startsOf(s, id));
  }
  for (const id of open) s.scheduler.requestEnd(id, 'cancel');
  for (let round = 0; round < 400 && s.store.inbox.pending().length > 0; round += 1) {
    for (const go of hooks.splice(0)) go({ kind: 'go', extras: {} });
    for (const w of s.workers) if (w.ends.length > 0) w.die({});
    await clock.advance(1);
  }
  t.same([...met].sort(), ['parked', 'queued', 'running', 'starting'], 'turns of every kind were cancelled');
  t.same(s.store.inbox.pending(), [], 'all have ended');
  t.same(s.store.waits.allOpen(), []);
  for (const [id, starts] of cancelled) {
    if (s.store.turns.get(id)?.status !== 'cancelled') t.fail(`${id} was not cancelled`);
    if (startsOf(s, id) !== starts) t.fail(`${id} was sent something after its cancel`);
    const results = s.store.events
      .ofTurn(id)
      .flatMap(({ event }) => (event.kind === 'tool_result' ? [event.call_id] : []));
    if (new Set(results).size !== results.length) t.fail(`${id} has a call with two results`);
  }
});
