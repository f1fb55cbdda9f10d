import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import t from 'tap';
import { climb, hurry, type Ladder, startLadder } from '../../supervisor/processes/kill-ladder.js';
import { Reaper } from '../../supervisor/processes/reaper.js';
import { FakeClock } from '../fakes/fake-clock.js';

const limits = { cancelGraceMs: 2_000, killGraceMs: 3_000, giveUpMs: 10_000 };

t.test('the ladder goes from a word to a signal to the end, each after its grace', async (t) => {
  let ladder: Ladder = startLadder(limits, 0, false);
  const steps: [number, string][] = [[0, ladder.rung]];
  for (let nowMs = 0; nowMs <= 60_000; nowMs += 500) {
    const next = climb(ladder, limits, nowMs);
    if (next === null) continue;
    ladder = next;
    steps.push([nowMs, ladder.rung]);
  }
  t.same(steps, [
    [0, 'cancel'],
    [2_000, 'term'],
    [5_000, 'kill'],
    [15_000, 'give_up'],
  ]);
  t.equal(ladder.nextAtMs, null);
});

t.test('now goes to the last signal from any step, and asking twice changes nothing', async (t) => {
  t.equal(startLadder(limits, 0, true).rung, 'kill');
  const cancel = startLadder(limits, 0, false);
  const kill = hurry(cancel, limits, 700);
  t.same(kill, { rung: 'kill', nextAtMs: 10_700 });
  t.equal(kill && hurry(kill, limits, 800), null);
});

/** A reaper over a process that exists only in name: 0 is never signalled. */
function reaper(drained: Promise<unknown> = Promise.resolve()) {
  const clock = new FakeClock();
  const child = new EventEmitter() as ChildProcess;
  const cancels: string[] = [];
  const made = new Reaper({
    child,
    pid: 0,
    pidStart: '99999999999',
    marker: 'worker_nobody',
    cgroup: null,
    clock,
    limits,
    drained,
    sendCancel: (reason) => cancels.push(reason),
  });
  return { clock, child, cancels, reaper: made };
}

t.test('a process that survives even SIGKILL is given up, and said to be', async (t) => {
  const { clock, cancels, reaper: made } = reaper();
  made.end('cancel', false);
  made.end('deadline', false);
  await clock.advance(20_000);
  t.match(await made.ended, { code: null, signal: null, gaveUp: true });
  t.same(cancels, ['cancel'], 'one ladder for all reasons');
  t.equal(clock.waiting, 0);
});

t.test('an exit stops the ladder where it stands', async (t) => {
  const { clock, child, reaper: made } = reaper();
  made.end('cancel', false);
  await clock.advance(1_000);
  child.emit('exit', 0, null);
  t.match(await made.ended, { code: 0, signal: null, gaveUp: false, swept: 0 });
  made.end('operator', true);
  await clock.advance(60_000);
  t.equal(clock.waiting, 0);
});

t.test('an end is told after the last frame, but frames that never come are not waited for', async (t) => {
  let read: () => void = () => undefined;
  const slow = reaper(
    new Promise<void>((resolve) => {
      read = resolve;
    }),
  );
  let told = false;
  const ended = slow.reaper.ended.then(() => {
    told = true;
  });
  slow.child.emit('exit', 0, null);
  await slow.clock.advance(1_000);
  t.equal(told, false, 'frames still wait to be read');
  read();
  await ended;
  const held = reaper(new Promise(() => undefined));
  held.child.emit('exit', 0, null);
  await held.clock.advance(10_000);
  t.match(await held.reaper.ended, { code: 0 });
  t.equal(held.clock.waiting, 0);
});
