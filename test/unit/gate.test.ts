// The gate is pure and the queue is memory: both are held to what they promise, on cases and on random histories.
import t from 'tap';
import { first, type GateView, heldAll, judge, type Standing } from '../../supervisor/dispatch/gate.js';
import { pressureOf } from '../../supervisor/dispatch/pressure.js';
import { TurnQueue } from '../../supervisor/dispatch/turn-queue.js';

const OPEN: GateView = { draining: false, paused: false, shedding: false, running: 0, maxParallelTurns: 4 };
const FREE = { parked: false, behind: false };
const LANE_AGE_MS = 100;

const go = { kind: 'go', reserve: () => undefined } as const;
const turn = (turnId: string, threadId: string, lane: 'person' | 'background' = 'person', sinceMs = 0) => ({
  turnId,
  threadId,
  lane,
  sinceMs,
  principal: 'operator',
});

/** All that may start now, in order. */
function startable(queue: TurnQueue, nowMs = 0): string[] {
  const walk = queue.walk();
  const found: string[] = [];
  for (let next = queue.next(walk, nowMs); next !== undefined; next = queue.next(walk, nowMs))
    found.push(next.turnId);
  return found;
}

t.test('the gate says start, hold and why, or refuse', async (t) => {
  const why = (gate: Partial<GateView>, view = FREE) => {
    const verdict = judge({ ...OPEN, ...gate }, view, () => go);
    return verdict.kind === 'hold' ? verdict.why : verdict.kind;
  };
  t.equal(why({}), 'start');
  t.equal(why({ running: 3 }), 'start');
  t.equal(why({ running: 4 }), 'slots_taken');
  t.equal(why({ draining: true, paused: true, shedding: true }), 'draining');
  t.equal(why({ paused: true, shedding: true }), 'paused');
  t.equal(why({ shedding: true, running: 4 }), 'pressure');
  t.equal(why({ running: 4 }, { parked: true, behind: true }), 'parked', 'what keeps it alone comes first');
  t.equal(why({ running: 4 }, { parked: false, behind: true }), 'thread_busy');
  t.equal(why({ paused: true }, { parked: false, behind: true }), 'paused');
  t.equal(heldAll(OPEN), null);
});

t.test('the gate asks the budget last, and only of a turn that could start', async (t) => {
  let asked = 0;
  const ask = () => {
    asked += 1;
    return { kind: 'held' } as const;
  };
  judge({ ...OPEN, running: 4 }, FREE, ask);
  judge(OPEN, { parked: false, behind: true }, ask);
  t.equal(asked, 0);
  t.same(judge(OPEN, FREE, ask), { kind: 'hold', why: 'budget' });
  const stop = { kind: 'stop', code: 'refused' } as const;
  t.same(
    judge(OPEN, FREE, () => stop),
    { kind: 'refuse', stop },
  );
});

t.test('a person goes before the background, which goes first once it is old', async (t) => {
  const person: Standing = { lane: 'person', place: 2, sinceMs: 50 };
  const background: Standing = { lane: 'background', place: 1, sinceMs: 0 };
  t.equal(first(person, background, 99, LANE_AGE_MS), person);
  t.equal(first(person, background, 100, LANE_AGE_MS), background);
  t.equal(
    first(person, { ...background, place: 3 }, 1_000, LANE_AGE_MS),
    person,
    'who came first stays first',
  );
  t.equal(first(undefined, background, 0, LANE_AGE_MS), background);
  t.equal(first(person, undefined, 0, LANE_AGE_MS), person);
});

t.test('the queue', async (t) => {
  t.test('offers the first of each free thread, in order of acceptance', async (t) => {
    const queue = new TurnQueue(LANE_AGE_MS);
    for (const id of ['a1', 'a2', 'b1', 'a3', 'c1']) queue.add(turn(id, id.slice(0, 1)));
    t.same(startable(queue), ['a1', 'b1', 'c1']);
    queue.start('a1');
    t.same(startable(queue), ['b1', 'c1'], 'others overtake a busy thread');
    queue.remove('a1');
    t.same(startable(queue), ['a2', 'b1', 'c1'], 'its next one has kept its place');
    t.same([queue.size, queue.waitingOf('operator'), queue.waitingOf('nobody')], [4, 4, 0]);
  });

  t.test('keeps a parked turn first in its thread, and starts nothing behind it', async (t) => {
    const queue = new TurnQueue(LANE_AGE_MS);
    for (const id of ['a1', 'a2', 'b1']) queue.add(turn(id, id.slice(0, 1)));
    queue.start('a1');
    queue.putBack('a1', true);
    t.same(startable(queue), ['b1']);
    t.equal(queue.parked, 1);
    t.same(queue.viewOf('a1'), { parked: true, behind: false });
    t.same(queue.viewOf('a2'), { parked: false, behind: true });
    queue.unpark('a1');
    t.same([startable(queue), queue.parked], [['a1', 'b1'], 0]);
  });

  t.test('lets a parked or queued turn leave without a start', async (t) => {
    const queue = new TurnQueue(LANE_AGE_MS);
    queue.add(turn('a1', 'a'), true);
    queue.add(turn('a2', 'a'));
    t.same(startable(queue), []);
    queue.remove('a1');
    t.same([startable(queue), queue.parked, queue.size], [['a2'], 0, 1]);
    queue.remove('a2');
    t.same([startable(queue), queue.has('a2'), queue.size], [[], false, 0]);
  });

  t.test('pulls a thread forward when a person waits behind work in the background', async (t) => {
    const queue = new TurnQueue(LANE_AGE_MS);
    queue.add(turn('a1', 'a', 'background'));
    queue.add(turn('b1', 'b', 'background'));
    queue.add(turn('b2', 'b'));
    t.same(startable(queue), ['b1', 'a1']);
  });

  t.test('survives whatever is done with a turn while it is walked', async (t) => {
    const queue = new TurnQueue(LANE_AGE_MS);
    for (const id of ['a1', 'a2', 'b1', 'c1']) queue.add(turn(id, id.slice(0, 1)));
    const walk = queue.walk();
    const seen: string[] = [];
    for (let next = queue.next(walk, 0); next !== undefined; next = queue.next(walk, 0)) {
      seen.push(next.turnId);
      if (next.turnId === 'a1') queue.remove('a1');
      else if (next.turnId === 'b1') queue.start('b1');
    }
    t.same(seen, ['a1', 'a2', 'b1', 'c1']);
  });
});

/** A small generator with a seed, so that a failure can be played again. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface World {
  readonly queue: TurnQueue;
  readonly running: Map<string, string>;
  readonly started: string[];
  nowMs: number;
}

/** Starts all that may, as the scheduler does. */
function fill({ queue, running, started, nowMs }: World, cap: number): void {
  const walk = queue.walk();
  while (running.size < cap) {
    const next = queue.next(walk, nowMs);
    if (next === undefined) return;
    if ([...running.values()].includes(next.threadId)) throw new Error('two turns on one thread');
    queue.start(next.turnId);
    running.set(next.turnId, next.threadId);
    started.push(next.turnId);
  }
}

t.test('random histories keep the cap, the order of each thread, and let nobody starve', async (t) => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = randomOf(seed);
    const cap = 1 + random(4);
    const threads = 1 + random(8);
    const world: World = { queue: new TurnQueue(LANE_AGE_MS), running: new Map(), started: [], nowMs: 0 };
    const { queue, running } = world;
    const parked = new Set<string>();
    const accepted = new Map<string, string[]>();
    const ended = new Set<string>();
    const acceptedAt = new Map<string, number>();
    let count = 0;
    for (let step = 0; step < 300; step += 1) {
      world.nowMs += random(10);
      const action = random(step < 200 ? 6 : 4);
      const one = [...running.keys()][random(Math.max(1, running.size))];
      if (action >= 4) {
        const thread = `t${random(threads)}`;
        const id = `${thread}-${count}`;
        count += 1;
        queue.add(turn(id, thread, random(3) === 0 ? 'person' : 'background', world.nowMs));
        accepted.set(thread, [...(accepted.get(thread) ?? []), id]);
        acceptedAt.set(id, step);
      } else if (action === 3 && one !== undefined && random(3) === 0) {
        running.delete(one);
        parked.add(one);
        queue.putBack(one, true);
      } else if (action === 2 && parked.size > 0) {
        const back = [...parked][0] ?? '';
        parked.delete(back);
        queue.unpark(back);
      } else if (one !== undefined) {
        running.delete(one);
        ended.add(one);
        queue.remove(one);
      }
      fill(world, cap);
      if (running.size > cap) t.fail(`seed ${seed}: over the cap`);
      // Nothing that may start is left while a place is free.
      if (running.size < cap && startable(queue, world.nowMs).length > 0) t.fail(`seed ${seed}: idle`);
    }
    for (let rest = 0; rest < 1_000 && ended.size < count; rest += 1) {
      for (const back of parked) queue.unpark(back);
      parked.clear();
      fill(world, cap);
      for (const id of [...running.keys()]) {
        running.delete(id);
        ended.add(id);
        queue.remove(id);
      }
    }
    t.equal(ended.size, count, `seed ${seed}: all have ended`);
    t.same([queue.size, queue.parked, queue.waitingOf('operator')], [0, 0, 0]);
    const firstStart = [...new Set(world.started)];
    for (const [thread, ids] of accepted)
      t.same(
        firstStart.filter((id) => ids.includes(id)),
        ids,
        `seed ${seed}: ${thread} in order`,
      );
  }
});

t.test('work in the background is not starved by people who keep coming', async (t) => {
  const world: World = { queue: new TurnQueue(LANE_AGE_MS), running: new Map(), started: [], nowMs: 0 };
  world.queue.add(turn('late', 'z', 'background', 0));
  let people = 0;
  for (; people < 100 && !world.started.includes('late'); people += 1) {
    world.queue.add(turn(`p${people}`, `p${people}`, 'person', world.nowMs));
    fill(world, 1);
    world.nowMs += 10;
    for (const id of [...world.running.keys()]) {
      world.running.delete(id);
      world.queue.remove(id);
    }
  }
  t.ok(people >= 10, 'people went first');
  t.ok(people <= 12, 'until it was old enough');
});

t.test('the next turn is found in far less than a millisecond, however many wait', async (t) => {
  const queue = new TurnQueue(LANE_AGE_MS);
  for (let n = 0; n < 30_000; n += 1) for (let m = 0; m < 4; m += 1) queue.add(turn(`${n}.${m}`, `${n}`));
  const began = process.hrtime.bigint();
  for (let n = 0; n < 1_000; n += 1) {
    const next = queue.next(queue.walk(), 0);
    if (next === undefined) throw new Error('nothing to start');
    queue.start(next.turnId);
    queue.remove(next.turnId);
  }
  const tookMs = Number(process.hrtime.bigint() - began) / 1e6;
  t.ok(tookMs < 1_000, `${tookMs} ms for 1 000 of 120 000`);
});

t.test('pressure comes of disk and memory, and of nothing that nobody knows', async (t) => {
  const calm = { freeBytes: 1_000, memoryBytes: null, memoryHighBytes: null };
  const level = (freeBytes: number, least = 100) => pressureOf({ ...calm, freeBytes }, least).level;
  t.equal(level(1_000), 'ok');
  t.equal(level(200), 'ok');
  t.equal(level(199), 'warn');
  t.equal(level(99), 'shed');
  t.equal(level(0, 0), 'ok', 'a least of 0 looks at no disk');
  t.equal(pressureOf({ ...calm, freeBytes: null }, 100).level, 'ok');
  t.equal(pressureOf({ ...calm, memoryBytes: 94, memoryHighBytes: 100 }, 100).level, 'ok');
  t.equal(pressureOf({ ...calm, memoryBytes: 95, memoryHighBytes: 100 }, 100).level, 'shed');
  t.equal(pressureOf({ ...calm, memoryBytes: 95 }, 100).level, 'ok');
});
