// The progress line of a job on a terminal, drawn into a stream that remembers.
import { Writable } from 'node:stream';
import t from 'tap';
import { progressLine } from '../../supervisor/cli/progress-line.js';
import { FakeClock } from '../fakes/fake-clock.js';

const ERASE = '\r\u001b[2K';

function terminal(columns: number): {
  stderr: Writable & { isTTY: boolean; columns: number };
  text(): string;
} {
  let text = '';
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  return { stderr: Object.assign(sink, { isTTY: true, columns }), text: () => text };
}

t.test('a question on the terminal is not written over until it is answered', async (t) => {
  const clock = new FakeClock();
  const { stderr, text } = terminal(80);
  const line = progressLine(stderr, clock);
  let answer: (said: string) => void = () => undefined;
  const answered = line.during(() => {
    stderr.write('sure? ');
    return new Promise<string>((resolve) => {
      answer = resolve;
    });
  });
  await clock.advance(5_000);
  t.ok(text().endsWith(`${ERASE}sure? `), 'the line is gone and stays away');
  answer('yes');
  t.equal(await answered, 'yes');
  t.match(text(), /sure\? \r\u001b\[2Kstarting · 5s$/, 'and is back afterwards');
  line.stop();
  t.ok(text().endsWith(ERASE), 'nothing of it is left at the end');
});

t.test('a terminal that does not know its width gets a line for 80 columns', async (t) => {
  const { stderr, text } = terminal(0);
  const line = progressLine(stderr, new FakeClock());
  line.onLive({
    type: 'event',
    turnId: 'turn_1',
    event: { kind: 'tool_intent', tool: 'exec_command', arguments: { command: 'x'.repeat(200) } },
  } as unknown as Parameters<typeof line.onLive>[0]);
  line.stop();
  t.ok(text().includes(`exec_command ${'x'.repeat(66)}${ERASE}`), JSON.stringify(text()));
});

t.test(
  'a wait for a budget is told with the time at which it ends, until the next call goes out',
  async (t) => {
    const { stderr, text } = terminal(120);
    const clock = new FakeClock();
    const line = progressLine(stderr, clock);
    const last = (): string => text().split('\r').at(-1)?.replace('\u001b[2K', '') ?? '';
    line.onLive({ type: 'budget_wait', until_ms: Date.UTC(2026, 11, 2, 4, 30) });
    t.equal(last(), 'waiting for budget until 2026-12-02T04:30:00Z · 0s');
    await clock.advance(3_000);
    t.equal(last(), 'waiting for budget until 2026-12-02T04:30:00Z · 3s');
    line.onLive({ type: 'budget_wait', until_ms: null });
    t.equal(last(), 'waiting for budget · 3s');
    line.onLive({ type: 'progress', progress: { event: 'round', round: 1 } });
    t.equal(last(), 'thinking · round 1 · 3s');
    line.stop();
    t.equal(clock.waiting, 0);
  },
);
