// A supervisor that dies at any durable write of turns that outlive it: the next one takes them up. Each message is
// answered exactly once, each effect happens at most once, and nothing is held or waited for in the end.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { JsonObject } from '../../shared/json.js';
import { openStore } from '../../supervisor/store/open.js';
import { TRANSACTIONS } from '../../supervisor/store/types.js';
import { startFakeModel } from '../fakes/fake-model-server.js';
import { scratch } from '../fakes/job.js';
import type { FakeRequest, FakeStep } from '../fakes/model-steps.js';
import { processesWith } from '../fakes/processes.js';
import { cleanEnv, ROOT } from '../fakes/run-turnd.js';

// Each kill takes two or three processes, one after the other.
t.setTimeout(240_000);

const SOURCE = import.meta.url.endsWith('.ts');
const CHILD = fileURLToPath(new URL(`../fakes/doomed-daemon.${SOURCE ? 'ts' : 'js'}`, import.meta.url));
const LOADER = SOURCE ? ['--import', 'tsx'] : [];

interface Said {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
}

/** Does its work in steps, and knows by the conversation alone how far it came. */
function model({ body }: FakeRequest): FakeStep {
  const messages = (body as JsonObject)['messages'] as unknown as Said[];
  const from = messages.findLastIndex(
    (message) => message.role === 'user' && !message.content.startsWith('['),
  );
  const message = messages[from]?.content ?? '';
  const called = messages
    .slice(from)
    .flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.name));
  const call = (name: string, args: JsonObject): FakeStep => ({ calls: [{ name, arguments: args }] });
  if (!called.includes('exec_command'))
    return call('exec_command', { command: `echo ${message} >> effects` });
  if (!called.includes('sleep')) return call('sleep', { duration: '50ms' });
  if (!called.includes('memory_set')) return call('memory_set', { key: `stage.${message}`, value: 'one' });
  return { text: `Answered: ${message}` };
}

/** The kill points that these two turns do not pass. */
const NOT_PASSED = new Set([
  ...['open_thread', 'request_end', 'set_switch', 'fire_timer', 'preflight', 'compact'],
]);

interface Life {
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

function live(args: readonly string[], killAt?: string): Promise<Life> {
  const env = killAt === undefined ? {} : { TURND_TEST_KILL_AT: killAt };
  const child = spawn(process.execPath, [...LOADER, CHILD, ...args], {
    cwd: ROOT,
    env: cleanEnv(args[2] ?? '', env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve) => child.on('close', (_code, signal) => resolve({ signal, output })));
}

for (const name of TRANSACTIONS.filter((each) => !NOT_PASSED.has(each)))
  for (const side of ['before-commit', 'after-commit'])
    t.test(`a daemon killed ${side} of ${name} answers each message once`, async (t) => {
      const server = await startFakeModel({ script: model, strict: false });
      t.teardown(() => server.close());
      const cwd = scratch(t, 'turnd-crash-');
      const dir = join(scratch(t), 'state');
      const args = [dir, `${server.url}/v1/chat/completions`, cwd];
      // There is something to recover only after another death.
      if (name === 'recover') await live(args, 'after-commit:record_intent');
      const killed = await live(args, `${side}:${name}`);
      t.equal(killed.signal, 'SIGKILL', `the kill point was reached: ${killed.output}`);
      const last = await live(args);
      t.equal(last.output, 'done\n');

      const opened = openStore({ dir, on_damage: 'stop', nowMs: 1 });
      if (!opened.ok) throw new Error(opened.failure.message);
      const { store } = opened;
      t.teardown(() => store.close());
      const turns = store.turns.ofThread('root');
      t.match(
        turns.map(({ status, reply }) => [status, reply]),
        [
          ['completed', 'Answered: first'],
          ['completed', 'Answered: second'],
        ],
      );
      for (const { turn_id } of turns) {
        const events = store.events.ofTurn(turn_id).map(({ event }) => event);
        const said = events.filter((event) => event.kind === 'assistant_message');
        t.equal(said.filter(({ calls }) => calls.length === 0).length, 1, 'one answer in the transcript');
        t.equal(events.filter(({ kind }) => kind === 'turn_ended').length, 1);
        const results = events.flatMap((event) => (event.kind === 'tool_result' ? [event.call_id] : []));
        const calls = said.flatMap((event) => event.calls.map(({ call_id }) => call_id));
        t.same(results.toSorted(), calls.toSorted(), 'each call has exactly one result');
      }
      const effects = existsSync(join(cwd, 'effects')) ? readFileSync(join(cwd, 'effects'), 'utf8') : '';
      t.match(effects, /^(?:first\n)?(?:second\n)?$/, 'each effect happened at most once');
      t.same(store.reservations.all(), []);
      t.same(store.waits.allOpen(), []);
      t.same(
        processesWith(cwd).filter(({ command }) => command.includes('effects')),
        [],
      );
    });
