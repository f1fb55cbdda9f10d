import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { systemClock } from '../../shared/clock.js';
import { memoryOf } from '../fakes/processes.js';
import { isNote, sceneWorker } from '../fakes/scene-worker.js';
import { turnFrame } from '../fakes/turn-frame.js';

t.test('everything a worker sent before it left is delivered before its end is told', async (t) => {
  const { worker, frames } = sceneWorker('frames-then-exit');
  t.equal(await worker.ready, true);
  worker.send(turnFrame());
  // Frames for a worker that is about to be gone: they fail, and must take nothing with them.
  const pings = setInterval(() => worker.send({ type: 'ping', seq: 1 }), 1);
  const exit = await worker.ended;
  clearInterval(pings);
  t.match(exit, { code: 0, signal: null, fault: null, swept: 0 });
  t.equal(frames.length, 2001);
  t.match(frames.at(-1), { type: 'turn_done' });
  t.equal(worker.send({ type: 'ping', seq: 2 }), false, 'nobody is there any more');
});

t.test('an answer is not lost to the news that its sender was killed', async (t) => {
  const { worker, frames } = sceneWorker('frames-then-kill');
  await worker.ready;
  worker.send(turnFrame());
  t.match(await worker.ended, { code: null, signal: 'SIGKILL', fault: null });
  t.equal(frames.length, 101);
  t.match(frames.at(-1), { outcome: { reply: 'last' } });
});

t.test('what a worker prints goes to the log: the end of it, masked, and never into a frame', async (t) => {
  const { worker, frames } = sceneWorker('prints');
  await worker.ready;
  worker.send(turnFrame({}, ['secret-of-the-turn']));
  const exit = await worker.ended;
  t.match(exit, { code: 0, fault: null });
  t.match(frames, [{ type: 'turn_done', outcome: { reply: 'printed' } }]);
  t.match(exit.prints, /^the secret is \*\*\*$/m);
  t.notMatch(exit.prints, /secret-of-the-turn/);
  t.ok(exit.prints.length <= 4096);
});

t.test('a broken wire ends the worker, with a sentence that says how it broke', async (t) => {
  const cases: Record<string, RegExp> = {
    oversized: /17825792 bytes is over the cap of 16777216 bytes/,
    garbage: /cannot be read/,
    misfit: /seq should be number/,
    version: /version 99 .* version 1/,
    'no-hello': /ready before its hello/,
  };
  for (const [scene, message] of Object.entries(cases)) {
    const { worker } = sceneWorker(scene);
    if (await worker.ready) worker.send(turnFrame());
    const exit = await worker.ended;
    t.match(exit.fault, { code: 'protocol_violation', message }, scene);
  }
});

t.test('a worker that does not start is an end with a reason, never an exception', async (t) => {
  const early = sceneWorker('exit-early').worker;
  t.equal(await early.ready, false);
  t.match(await early.ended, {
    code: 3,
    fault: { code: 'worker_start_failed', message: /code 3/ },
    prints: 'cannot find its feet',
  });
  const silent = sceneWorker('silent', { startMs: 300 }).worker;
  t.equal(await silent.ready, false);
  t.match(await silent.ended, { fault: { code: 'worker_start_failed', message: /in time/ } });
  const missing = sceneWorker('', {}, '/nowhere/worker.cjs').worker;
  t.match(await missing.ended, { fault: { code: 'worker_start_failed' } });
});

t.test(
  'a worker gets an allow-listed environment and nothing of the turn in it or in its arguments',
  async (t) => {
    const { worker, frames } = sceneWorker('environment');
    await worker.ready;
    worker.send(turnFrame({ system_prompt: 'the prompt' }));
    await worker.ended;
    const [frame] = frames;
    const reply = frame?.type === 'turn_done' ? frame.outcome.reply : '{}';
    const facts = JSON.parse(reply) as Record<string, string> & { env: Record<string, string>; pid: number };
    const allowed = /^(PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|USER|LOGNAME|SHELL|TURND_TURN)$/;
    t.same(
      Object.keys(facts.env).filter((name) => !allowed.test(name)),
      [],
    );
    t.equal(facts.env['TURND_TURN'], worker.marker);
    t.equal(facts['cwd'], '/');
    t.equal(facts.pid, worker.pid, 'the pid is that of the worker, not of a wrapper');
    t.same([facts['pgrp'], facts['session']], [String(worker.pid), String(worker.pid)]);
    t.notMatch(reply, /the prompt|sk-of-the-supervisor/);
  },
);

t.test('a worker that does not read costs a bounded queue, and no time', async (t) => {
  const bound = 2 * 1024 * 1024;
  const { worker } = sceneWorker('mute', { queueMaxBytes: bound });
  await worker.ready;
  worker.send(turnFrame());
  process.kill(worker.pid, 'SIGSTOP');
  const before = memoryOf(process.pid).rss;
  const frame = turnFrame({ system_prompt: 'x'.repeat(64 * 1024) });
  let slowestMs = 0;
  let sent = 0;
  for (; sent < 10_000; sent += 1) {
    const startedMs = systemClock.monotonic();
    const queued = worker.send(frame);
    slowestMs = Math.max(slowestMs, systemClock.monotonic() - startedMs);
    if (!queued) break;
  }
  t.ok(sent < 60, `refused after ${sent} frames of 64 KB`);
  t.ok(slowestMs < 100, `no write blocks: ${slowestMs} ms`);
  t.ok(memoryOf(process.pid).rss - before < 40 * 1024 * 1024);
  t.match((await worker.ended).fault, { code: 'protocol_violation', message: /does not read/ });
});

t.test('back-pressure: drained waits for a slow reader and for nobody else', async (t) => {
  const { worker } = sceneWorker('mute');
  await worker.ready;
  await worker.drained();
  process.kill(worker.pid, 'SIGSTOP');
  worker.send(turnFrame({ system_prompt: 'x'.repeat(4 * 1024 * 1024) }));
  let drained = false;
  const waiting = worker.drained().then(() => {
    drained = true;
  });
  await pause(50);
  t.equal(drained, false);
  process.kill(worker.pid, 'SIGCONT');
  await waiting;
  worker.end('cancel', { now: true });
  await worker.ended;
  await worker.drained();
});

t.test('a worker that neither gets on nor answers is ended as stuck', async (t) => {
  const { worker, seen } = sceneWorker('mute', { progressMs: 200, pongMs: 300 });
  await worker.ready;
  worker.send(turnFrame());
  await seen(isNote('quiet now'));
  const exit = await worker.ended;
  t.match(exit.fault, { code: 'worker_stuck', message: /no progress for 200 ms .* for 300 ms/ });
  t.ok(exit.signal === 'SIGTERM' || exit.signal === 'SIGKILL');
});
