// Random histories on a real store: turns and calls started at once, workers that die, supervisors that are lost, a clock
// that is set back and forth. Whatever happens, what was let go within a window stays within its cap.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { windowAt } from '../../supervisor/budgets/windows.js';
import { recover } from '../../supervisor/dispatch/recover.js';
import { budget, window } from '../fakes/budget.js';
import { done, type Stage, settleDown, stage } from '../fakes/dispatch-stage.js';
import { FakeClock } from '../fakes/fake-clock.js';

const CAP = 2_000;
const REQUESTS = 9;
const HOUR = 3_600_000;
const START = Date.UTC(2026, 2, 4, 12);

/** The same history for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

interface Call {
  readonly tokens: number;
  readonly startsAtMs: number;
}

/** What was really let go, by what a provider would bill: kept by the test alone, never by the product. */
class Bill {
  readonly calls: Call[] = [];
  readonly #lifetime: number;

  constructor(lifetime: number) {
    this.#lifetime = lifetime;
  }

  passed(): string | null {
    for (const startsAtMs of new Set(this.calls.map((call) => call.startsAtMs))) {
      const inWindow = this.calls.filter((call) => call.startsAtMs === startsAtMs);
      const wrong = this.#over(inWindow, CAP);
      if (wrong !== null) return `the hour at ${startsAtMs}: ${wrong}`;
      if (inWindow.length > REQUESTS) return `the hour at ${startsAtMs}: ${inWindow.length} calls`;
    }
    return this.#over(this.calls, this.#lifetime);
  }

  #over(calls: readonly Call[], cap: number): string | null {
    const sum = calls.reduce((total, call) => total + call.tokens, 0);
    const largest = Math.max(0, ...calls.map((call) => call.tokens));
    return sum <= cap || sum === largest ? null : `${sum} of ${cap}`;
  }
}

type Worker = Stage['workers'][number];

interface InFlight {
  readonly worker: Worker;
  calls: number;
  /** Let go, and not settled yet: what it will be billed. */
  open: number | null;
}

class History {
  readonly bill: Bill;
  #clock = new FakeClock();
  readonly #test: Test;
  readonly #dir: string;
  readonly #roll: (sides: number) => number;
  readonly #lifetime: number;
  readonly #flying = new Map<Worker, InFlight>();
  #stage: Stage;
  readonly counts = { go: 0, wait: 0, stop: 0, lost: 0 };

  constructor(test: Test, seed: number, lifetime: number) {
    this.#test = test;
    this.#roll = dice(seed);
    this.#lifetime = lifetime;
    this.bill = new Bill(lifetime);
    this.#dir = join(test.testdir({}), 'state');
    this.#clock.set(START);
    this.#stage = this.#open();
  }

  #open(): Stage {
    return stage(this.#test, {
      dir: this.#dir,
      clock: this.#clock,
      cap: 5,
      deadlineMs: 1_000 * HOUR,
      estimate: 300,
      intelligence: budget({
        windows: [window('hour', { tokens: CAP, requests: REQUESTS })],
        lifetime: { tokens: this.#lifetime, cost: null },
      }),
    });
  }

  get store(): Stage['store'] {
    return this.#stage.store;
  }

  async step(): Promise<void> {
    const what = this.#roll(100);
    if (what < 18) this.#stage.accept('go', `thread-${this.#roll(6)}`);
    else if (what < 78) this.#work();
    else if (what < 91) await this.#clock.advance(this.#roll(HOUR));
    else if (what < 96) this.#clock.set(START + (this.#roll(9) - 4) * HOUR + this.#roll(HOUR));
    else if (what < 99) this.#kill();
    else await this.#restart();
    await settleDown();
    for (const worker of this.#stage.workers)
      if (!this.#flying.has(worker)) this.#flying.set(worker, { worker, calls: 0, open: null });
  }

  #some(): InFlight | undefined {
    const all = [...this.#flying.values()];
    return all[this.#roll(all.length)];
  }

  #work(): void {
    const flight = this.#some();
    if (flight === undefined) return;
    const { worker } = flight;
    if (flight.open !== null) {
      const usage = { input_tokens: flight.open, output_tokens: 0, cached_tokens: 0, estimated: false };
      worker.say({
        type: 'progress',
        progress: { event: 'usage', call_index: flight.calls, model: 'builtin', usage },
      });
      flight.open = null;
    } else if (this.#roll(5) === 0) {
      worker.say(done());
      worker.die({});
      this.#flying.delete(worker);
    } else this.#ask(flight);
  }

  #ask(flight: InFlight): void {
    const { worker } = flight;
    const estimate = this.#roll(12) === 0 ? 3_000 : 50 + this.#roll(900);
    const before = worker.sent.length;
    worker.say({ type: 'budget_request', id: 1, estimate_tokens: estimate });
    const last = worker.sent[before];
    if (last?.type !== 'budget_answer') return;
    this.counts[last.answer.kind] += 1;
    if (last.answer.kind !== 'go') return;
    flight.calls += 1;
    flight.open = this.#roll(3) === 0 ? estimate : 1 + this.#roll(estimate);
    worker.say({ type: 'progress', progress: { event: 'round', round: flight.calls } });
    const { startsAtMs } = windowAt('hour', 0, this.#clock.now());
    this.bill.calls.push({ tokens: flight.open, startsAtMs });
  }

  #kill(): void {
    const flight = this.#some();
    if (flight === undefined) return;
    if (flight.open !== null) this.counts.lost += 1;
    flight.worker.die({ code: null, signal: 'SIGKILL' });
    this.#flying.delete(flight.worker);
  }

  /** The supervisor is gone in the middle of everything; the next one finds the store as it is. */
  async #restart(): Promise<void> {
    this.counts.lost += [...this.#flying.values()].filter(({ open }) => open !== null).length;
    this.#stage.lose();
    this.#flying.clear();
    const now = this.#clock.now();
    this.#clock = new FakeClock();
    this.#clock.set(now);
    this.#stage = this.#open();
    recover(this.#stage.store, this.#stage.governor, this.#clock.now());
  }
}

for (const [seed, lifetime] of [
  [1, 14_000],
  [2, 10 ** 9],
  [3, 10 ** 9],
  [4, 10 ** 9],
] as const) {
  t.test(`no cap is passed by more than one call, whatever happens (history ${seed})`, async (t) => {
    const history = new History(t, seed, lifetime);
    for (let step = 0; step < 600; step += 1) {
      await history.step();
      const wrong = history.bill.passed();
      if (wrong !== null) return void t.fail(`step ${step}: ${wrong}`);
    }
    const { counts, store } = history;
    t.ok(counts.go > 12 && counts.wait > 0 && counts.lost > 0, `of each kind: ${JSON.stringify(counts)}`);
    if (lifetime < 10 ** 9) t.ok(counts.stop > 0, 'the lifetime was reached');
    const open = new Set(
      store.turns.inStates(['starting', 'running', 'stopping']).map((turn) => turn.turn_id),
    );
    const leaked = store.reservations.all().filter((row) => !open.has(row.turn_id));
    t.same(leaked, [], 'nothing is held back for a turn that has ended');
  });
}
