// A supervisor that dies at any durable write: the next run on its state directory finds a true state, the effect of the
// tool happened at most once, the store's own change exactly as often as the transcript says, and the thread goes on.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openReader } from '../../supervisor/store/open.js';
import { TRANSACTIONS } from '../../supervisor/store/types.js';
import { document, runJob, scratch } from '../fakes/job.js';
import { processesWith } from '../fakes/processes.js';

const SCRIPT = [
  // Nothing to ask for: what this answer brought is recorded on its own.
  { calls: [{ name: 'no_such_tool', arguments: {} }] },
  {
    text: 'Working.',
    calls: [
      { name: 'exec_command', arguments: { command: 'echo effect >> effects' } },
      { name: 'memory_set', arguments: { key: 'stage', value: 'one' } },
    ],
  },
  { text: 'Done.' },
];

/** Never reached; its books must be true at each kill all the same. */
const BUDGET = { TURND_INTELLIGENCE_BUDGET_LIFETIME_TOKENS: '10000000' };

/** Which of them a run of this script passes; the others belong to other ways of a turn. */
const NOT_PASSED = new Set([
  'open_thread',
  'request_end',
  'recover',
  'name_snapshot',
  'set_switch',
  'fire_timer',
  'answer_wait',
  'requeue_turn',
  'preflight',
  'compact',
]);

for (const name of TRANSACTIONS.filter((each) => !NOT_PASSED.has(each))) {
  for (const side of ['before-commit', 'after-commit']) {
    t.test(`a supervisor killed ${side} of ${name} loses nothing and repeats nothing`, async (t) => {
      const cwd = scratch(t, 'turnd-crash-');
      const stateDir = join(scratch(t), 'state');
      const killed = await runJob(t, SCRIPT, {
        cwd,
        stateDir,
        env: { ...BUDGET, TURND_TEST_KILL_AT: `${side}:${name}` },
      });
      t.equal(killed.signal, 'SIGKILL', `the kill point was reached: ${killed.stderr}`);
      t.equal(killed.stdout, '', 'no answer was given that a crash could take back');

      const next = await runJob(t, [{ text: 'Going on.' }], {
        cwd,
        stateDir,
        prompt: 'And now?',
        env: BUDGET,
        args: ['--output', 'json'],
      });
      t.equal(next.code, 0, next.stderr);
      t.equal(document(next).reply, 'Going on.');
      next.model.assertDone();

      const effects = existsSync(join(cwd, 'effects')) ? readFileSync(join(cwd, 'effects'), 'utf8') : '';
      t.ok(['', 'effect\n'].includes(effects), 'the effect happened at most once');

      const opened = openReader(stateDir);
      if (!opened.ok) throw new Error(opened.failure.message);
      const { reader } = opened;
      t.teardown(() => reader.close());
      t.same(reader.reservations.all(), [], 'no budget is held back for ever');
      const turns = reader.turns.ofThread('root');
      t.same(
        turns.map(({ state }) => state).filter((state) => state !== 'ended'),
        [],
        'no turn is left unfinished',
      );
      const [first] = turns.length > 1 ? turns : [];
      if (first !== undefined) {
        const events = reader.events.ofTurn(first.turn_id).map(({ event }) => event);
        const calls = events.flatMap((event) => (event.kind === 'assistant_message' ? event.calls : []));
        const results = events.flatMap((event) => (event.kind === 'tool_result' ? [event.call_id] : []));
        t.same(
          results.sort(),
          calls.map(({ call_id }) => call_id).sort(),
          'each call has exactly one result',
        );
        const stored = events.some(
          (event) => event.kind === 'tool_result' && event.tool === 'memory.set' && event.end === 'done',
        );
        t.equal(reader.memory.get('stage', Number.MAX_SAFE_INTEGER)?.value === 'one', stored);
        t.equal(events.filter(({ kind }) => kind === 'turn_ended').length, 1);
      }
      t.same(
        processesWith(cwd).filter(({ command }) => command.includes('effects')),
        [],
      );
    });
  }
}
