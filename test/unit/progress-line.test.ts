// The progress line of a job on a terminal.
import t from 'tap';
import { progressLine } from '../../supervisor/cli/progress-line.js';
import { FakeClock } from '../fakes/fake-clock.js';

t.test(
  'a wait for a budget is told with the time at which it ends, until the next call goes out',
  async (t) => {
    let written = '';
    const write = (text: string): boolean => {
      written += text;
      return true;
    };
    const stderr = { isTTY: true, columns: 120, write } as unknown as Parameters<typeof progressLine>[0];
    const clock = new FakeClock();
    const line = progressLine(stderr, clock);
    const last = (): string => written.split('\r').at(-1)?.replace('\u001b[2K', '') ?? '';
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
