// A turn that repeats itself: calls, polls, text without end. The real loop in process.
import t from 'tap';
import { plannedTool, playTurn, TOOLS } from '../fakes/played-turn.js';
import { answer, asks, type ModelStep, says } from '../fakes/scripted-provider.js';

t.test('the same call is warned about at its third time, and ends the turn at the fourth', async (t) => {
  const same = asks(['read_file', { path: 'a' }]);
  const { outcome, link, provider, results } = await playTurn({
    tools: { read_file: (request) => `reading ${request.index}` },
    steps: [
      same,
      asks(['read_file', { path: 'other' }]),
      same,
      same,
      asks(['read_file', '{ "path" : "a" }']),
    ],
  });
  t.match(outcome, {
    status: 'loop_detected',
    error: { code: 'loop_detected', message: /read_file \{"path":"a"\} was called 4 times/ },
  });
  t.equal(link.requests.length, 4, 'the fourth is not run');
  t.match(link.told('note')[0]?.text, /3 times.*ends this turn/);
  t.match(provider.requests[4]?.messages.at(-1), { role: 'note', text: /3 times/ });
  t.match(results.at(-1)?.content, { error: /repeat/ });
});

t.test('two calls that take turns are named as the pattern', async (t) => {
  const steps = Array.from({ length: 10 }, (_, index) =>
    asks(['read_file', { path: index % 2 === 0 ? 'a' : 'b' }]),
  );
  const { outcome } = await playTurn({ tools: { read_file: () => 'same' }, steps });
  t.match(outcome, { status: 'loop_detected', rounds: 7, error: { message: /take turns: .*"b".*"a"/ } });
});

t.test('honest polling with changing results is not a loop; polling that never changes is', async (t) => {
  const poll = asks(['status', { job: 1 }]);
  let left = 20;
  const changing = await playTurn({
    tools: { status: () => ({ left: left-- }) },
    steps: [...Array.from({ length: 20 }, () => poll), says('Done.')],
    limits: { rounds: 50 },
  });
  t.match(changing.outcome, { status: 'completed', rounds: 21 });
  const stuck = await playTurn({
    tools: { status: () => ({ left: 7 }) },
    steps: Array.from({ length: 20 }, () => poll),
  });
  t.match(stuck.outcome, { status: 'loop_detected', rounds: 4, error: { message: /4 times.*same result/ } });
  t.match(stuck.link.told('note')[0]?.text, /3 times/);
});

t.test('ten identical calls in one answer are stopped, and each gets a result', async (t) => {
  for (const [tool, kind] of [
    ['read_file', 'read'],
    ['write_file', 'write'],
    ['status', 'poll'],
  ] as const) {
    const calls = Array.from({ length: 10 }, () => [tool, { path: 'a' }] as const);
    let count = 0;
    const { outcome, link, results } = await playTurn({
      plan: [...TOOLS.filter((each) => each.name !== tool), plannedTool(tool, kind)],
      tools: { [tool]: () => `result ${count++}` },
      steps: [asks(...calls)],
    });
    t.equal(outcome.status, 'loop_detected', kind);
    t.equal(link.requests.length, 3, kind);
    t.equal(results.length, 10);
    t.equal(results.filter((result) => result.is_error).length, 7);
  }
});

t.test('the number of repeats is a setting', async (t) => {
  const same = asks(['read_file', { path: 'a' }]);
  const tools = { read_file: () => 'text' };
  const two = await playTurn({ tools, steps: [same, same], limits: { loop_repeats: 2 } });
  t.match(two.outcome, { status: 'loop_detected', rounds: 2 });
  const off = await playTurn({
    tools,
    steps: [...Array.from({ length: 12 }, () => same), says('Done.')],
    limits: { loop_repeats: 0 },
  });
  t.equal(off.outcome.status, 'completed');
});

t.test('how long a poll took is no progress, but the time of what still runs is', async (t) => {
  const poll = asks(['status', {}]);
  let ms = 0;
  const steps = Array.from({ length: 8 }, () => poll);
  const over = await playTurn({ tools: { status: () => ({ exit_code: 1, duration_ms: ms++ }) }, steps });
  t.match(over.outcome, { status: 'loop_detected', rounds: 4 });
  const running = await playTurn({
    tools: { status: () => ({ running: true, duration_ms: ms++ }) },
    steps: [...steps, says('Done.')],
  });
  t.equal(running.outcome.status, 'completed');
});

t.test('text that repeats itself without end is stopped while it streams', async (t) => {
  const endless = ['yes, ', ' ', 'I will now look at the file and see what it holds.\n', 'é😀'];
  for (const piece of endless) {
    for (const stream of ['text', 'reasoning'] as const) {
      let sent = 0;
      const babble: ModelStep = (_request, tell, signal) => {
        while (!signal.aborted && sent < 50_000) {
          tell({ kind: stream, text: piece });
          sent += piece.length;
        }
        return signal.aborted ? { kind: 'aborted' } : answer({ text: 'done' });
      };
      const { outcome, link } = await playTurn({ steps: [babble] });
      t.match(outcome, { status: 'loop_detected', error: { message: /repeats ".+" without end/ } });
      t.ok(sent < 10_000, `${stream} stopped after ${sent} characters`);
      t.match(link.told('usage')[0]?.usage, { estimated: true });
    }
  }
});

t.test('one big piece of repeated text is noticed too, and honest repetition is not', async (t) => {
  const flood = await playTurn({ steps: [says('yes, '.repeat(10_000))] });
  t.equal(flood.outcome.status, 'loop_detected');
  const ruler = `${'-'.repeat(4_000)}\n`;
  const table = Array.from({ length: 2_000 }, (_, row) => `| row | ${row} |`).join('\n');
  t.equal((await playTurn({ steps: [says(ruler + table)] })).outcome.status, 'completed');
});
