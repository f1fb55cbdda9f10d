import t from 'tap';
import { Heartbeat } from '../../supervisor/processes/heartbeat.js';
import { judgeLiveness, pingEveryMs } from '../../supervisor/processes/liveness.js';
import { FakeClock } from '../fakes/fake-clock.js';

const limits = { progressMs: 120_000, pongMs: 10_000 };

t.test(
  'a worker is judged by its channel, its deadline, its progress and its pongs, in this order',
  async (t) => {
    const signs = { channelClosed: false, deadlineAtMs: 500_000, lastProgressMs: 0, lastPongMs: 0 };
    const judge = (change: Partial<typeof signs>, nowMs: number): string =>
      judgeLiveness({ ...signs, ...change }, limits, nowMs);
    t.equal(judge({}, 119_999), 'healthy', 'progress within its window needs no pong');
    t.equal(judge({ lastPongMs: 115_000 }, 120_000), 'busy', 'silent, but awake');
    t.equal(judge({ lastPongMs: 110_000 }, 120_000), 'stuck', 'silent, and no answer either');
    t.equal(judge({ lastPongMs: 499_999 }, 500_000), 'overdue', 'awake, but past the deadline');
    t.equal(judge({ channelClosed: true }, 600_000), 'dead', 'the channel outranks all');
    t.equal(judge({ deadlineAtMs: null as never }, 120_000), 'stuck');
  },
);

t.test('three pings fit into the time of one pong, and none is later than five seconds', async (t) => {
  t.equal(pingEveryMs({ progressMs: 1, pongMs: 3_000 }), 1_000);
  t.equal(pingEveryMs({ progressMs: 1, pongMs: 60_000 }), 5_000);
});

function watched(deadlineMs: number) {
  const clock = new FakeClock();
  const startMs = clock.monotonic();
  const pings: number[] = [];
  const verdicts: { verdict: string; afterMs: number }[] = [];
  const heartbeat = new Heartbeat({
    clock,
    limits,
    deadlineAtMs: startMs + deadlineMs,
    ping: (seq) => pings.push(seq),
    verdict: (verdict) => verdicts.push({ verdict, afterMs: clock.monotonic() - startMs }),
  });
  const run = async (ms: number, each: () => void = () => undefined): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await clock.advance(1_000);
      each();
    }
  };
  return { clock, pings, verdicts, heartbeat, run };
}

t.test('a silent worker that answers pings may take as long as its deadline allows', async (t) => {
  const { heartbeat, pings, run, verdicts } = watched(1_000_000);
  await run(900_000, () => heartbeat.pong());
  t.same(verdicts, []);
  t.ok(pings.length > 200);
  await run(200_000, () => heartbeat.pong());
  t.match(verdicts, [{ verdict: 'overdue' }]);
  const lateMs = (verdicts[0]?.afterMs ?? 0) - 1_000_000;
  t.ok(lateMs >= 0 && lateMs <= 5_000, `noticed ${lateMs} ms after the deadline`);
});

t.test(
  'a worker that neither gets on nor answers is stuck once both windows are over, told once',
  async (t) => {
    const { run, verdicts, clock } = watched(1_000_000);
    await run(300_000);
    t.match(verdicts, [{ verdict: 'stuck' }]);
    const lateMs = (verdicts[0]?.afterMs ?? 0) - 120_000;
    t.ok(lateMs >= 0 && lateMs <= 5_000, `noticed ${lateMs} ms after the window`);
    t.equal(verdicts.length, 1);
    t.equal(clock.waiting, 0);
  },
);

t.test('frames count as life', async (t) => {
  const { heartbeat, run, verdicts } = watched(1_000_000);
  await run(300_000, () => heartbeat.progress());
  t.same(verdicts, []);
});

t.test('a supervisor that was stopped itself does not blame its workers', async (t) => {
  const clock = new FakeClock();
  let skewMs = 0;
  const verdicts: string[] = [];
  const heartbeat = new Heartbeat({
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic() + skewMs,
      after: (delayMs, callback) => clock.after(delayMs, callback),
    },
    limits,
    deadlineAtMs: 10_000_000,
    ping: () => undefined,
    verdict: (verdict) => verdicts.push(verdict),
  });
  await clock.advance(5_000);
  skewMs = 600_000;
  await clock.advance(5_000);
  t.same(verdicts, [], 'the answers that wait to be read get their chance');
  await clock.advance(15_000);
  t.same(verdicts, ['stuck'], 'but only one');
  heartbeat.stop();
});

t.test('nothing fires after a stop', async (t) => {
  const { clock, heartbeat, run, verdicts } = watched(10_000);
  heartbeat.stop();
  await run(60_000);
  t.same(verdicts, []);
  t.equal(clock.waiting, 0);
});
