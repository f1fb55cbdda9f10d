// The built-in model as a provider: rounds, honesty about what failed, and the contract that every provider keeps.
import t from 'tap';
import { type Clock, systemClock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import type { Message } from '../../shared/transcript/message.js';
import { SIGNATURE } from '../../worker/models/builtin/introduction.js';
import { builtinProvider } from '../../worker/models/builtin/provider.js';
import type { ModelEvent } from '../../worker/models/provider.js';
import { playBuiltin, requestOf, toolsOfTurn } from '../fakes/builtin-turn.js';
import { testContext } from '../fakes/shell-context.js';

const never = new AbortController().signal;

/** Stands for a shell that knows one word; other tools are not its business. */
function echo(tool: string, args: JsonObject): ToolResult | null {
  if (tool !== 'exec_command') return null;
  const words = String(args['command']).replace(/^echo /, '');
  return { content: { output: `${words}\n`, exit_code: 0, duration_ms: 1 }, is_error: false };
}

t.test('a tool that the turn does not have is said, and nothing else is called instead', async (t) => {
  const context = testContext(t);
  for (const [text, tool] of [
    ['run ls', 'exec_command'],
    ['list src', 'list_dir'],
    ['read a.txt', 'read_file'],
    ['search for x', 'grep_files'],
    ['find *.ts', 'glob_files'],
    ['write a to b', 'write_file'],
    ['fetch http://127.0.0.1:1/', 'web_fetch'],
  ] as const) {
    const { reply, calls } = await playBuiltin(text, context, { without: [tool] });
    t.match(reply, new RegExp(`this turn has no tool \`${tool}\``), text);
    t.same(calls, [], `${text} calls nothing`);
  }
});

t.test('a denied call is told with the reason it was given', async (t) => {
  const { reply } = await playBuiltin('run rm -r build', testContext(t), {
    intercept: () => toolError('not allowed: commands are off in this mode'),
  });
  t.match(reply, /`rm -r build` was not run: not allowed: commands are off in this mode\./);
});

t.test('steps run one after the other, and "it" is what the step before gave', async (t) => {
  const written: unknown[] = [];
  const { reply, calls } = await playBuiltin('run echo hi and then write it to log.txt', testContext(t), {
    intercept: (tool, args) => {
      if (tool !== 'write_file') return echo(tool, args);
      written.push(args);
      return { content: { path: 'log.txt', bytes: 3 }, is_error: false };
    },
  });
  t.same(
    calls.map((call) => call.tool),
    ['exec_command', 'write_file'],
  );
  t.same(written, [{ path: 'log.txt', content: 'hi\n' }]);
  t.match(reply, /^1\. `echo hi` ended well/);
  t.match(reply, /\n2\. Wrote `log\.txt` \(1 line, 3 bytes\): what the step before gave\./);
});

t.test('nothing is written when the step before gave nothing', async (t) => {
  const { reply, calls } = await playBuiltin('run echo a and then write it to log.txt', testContext(t), {
    without: ['exec_command'],
  });
  t.same(calls, []);
  t.match(reply, /`log\.txt` was not written: no step before this one gave anything to write/);
});

t.test('every answer says once that it comes from fixed rules', async (t) => {
  const context = testContext(t);
  for (const text of ['run echo hi', 'run echo a and then run echo b', 'help', 'write me a sonnet', '']) {
    const { reply } = await playBuiltin(text, context, { intercept: echo });
    t.equal(reply.match(/built-in offline model/g)?.length, 1, JSON.stringify(text));
    t.match(reply, /not a language model/);
  }
  t.ok((await playBuiltin('run echo hi', context, { intercept: echo })).reply.endsWith(SIGNATURE));
});

t.test('what it cannot do is answered with what it can, and how to set a model', async (t) => {
  const { reply, calls } = await playBuiltin('translate main.ts into \u202eRust', testContext(t));
  t.same(calls, []);
  t.match(reply, /translate main\.ts into \\u\{202e\}Rust/, 'the request is shown, made safe');
  for (const part of [
    'summarise',
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    '--endpoint',
    '--model',
    'turnd.yaml',
  ])
    t.ok(reply.includes(part), part);
});

t.test('only the newest message of a thread counts', async (t) => {
  const before: Message[] = [
    { role: 'user', text: 'run echo old' },
    {
      role: 'assistant',
      text: '',
      calls: [{ call_id: 'x', name: 'exec_command', arguments: { command: 'echo old' } }],
    },
    {
      role: 'tool',
      call_id: 'x',
      name: 'exec_command',
      content: { output: 'old\n', exit_code: 0 },
      is_error: false,
    },
    { role: 'assistant', text: 'old', calls: [] },
    { role: 'note', text: 'The turn before was cancelled.' },
  ];
  const { reply, calls } = await playBuiltin('run echo new', testContext(t), { before, intercept: echo });
  t.match(reply, /```\nnew\n```/);
  t.same(calls, [{ tool: 'exec_command', arguments: { command: 'echo new' } }]);
});

t.test('a history that does not fit the request is told, not guessed at', async (t) => {
  const messages: Message[] = [
    { role: 'user', text: 'run echo hi' },
    { role: 'assistant', text: '', calls: [{ call_id: 'x', name: 'plan.get', arguments: {} }] },
    { role: 'tool', call_id: 'x', name: 'plan.get', content: {}, is_error: false },
  ];
  const outcome = await builtinProvider(systemClock).call(
    requestOf(messages, toolsOfTurn()),
    () => undefined,
    never,
  );
  t.match(outcome, {
    kind: 'answer',
    answer: { calls: [], text: /was not run: the history of this turn holds no such call/ },
  });
});

t.test('equal requests get equal answers, streamed whole, with counted usage', async (t) => {
  const request = requestOf([{ role: 'user', text: 'help' }], toolsOfTurn());
  const provider = builtinProvider(systemClock);
  const events: ModelEvent[] = [];
  const first = await provider.call(request, (event) => events.push(event), never);
  const second = await provider.call(request, () => undefined, never);
  t.same(first, second);
  if (first.kind !== 'answer') return t.fail('no answer');
  t.equal(events.map((event) => (event.kind === 'text' ? event.text : '')).join(''), first.answer.text);
  t.ok(events.length > 1, 'in pieces');
  t.match(first.answer, {
    stop: 'end',
    model: 'builtin',
    reasoning: [],
    usage: { estimated: true, cached_tokens: 0 },
  });
  t.ok((first.answer.usage?.input_tokens ?? 0) > 0 && (first.answer.usage?.output_tokens ?? 0) > 100);
});

t.test('it keeps the contract of a provider: aborted, timeout, failed', async (t) => {
  const request = requestOf([{ role: 'user', text: 'help' }], []);
  const provider = builtinProvider(systemClock);
  t.same(await provider.call(request, () => t.fail('no event'), AbortSignal.abort('cancel')), {
    kind: 'aborted',
  });
  let now = 0;
  const slow: Clock = { ...systemClock, monotonic: () => (now += 100_000) };
  t.same(await builtinProvider(slow).call(request, () => t.fail('no event'), never), { kind: 'timeout' });
  const shaped = await provider.call(
    { ...request, output_schema: { type: 'object' } },
    () => t.fail('no event'),
    never,
  );
  t.match(shaped, { kind: 'failed', code: 'model_rejected', message: /schema/, charged: null });
  t.equal(await provider.preconnect(request.settings, undefined), false);
  provider.close();
});

t.test('calls go out under the names of the wire, with their own ids', async (t) => {
  const tools = toolsOfTurn().map((tool) =>
    tool.name === 'exec_command' ? { ...tool, wire_name: 'run_it' } : tool,
  );
  const outcome = await builtinProvider(systemClock).call(
    requestOf([{ role: 'user', text: 'run ls' }], tools),
    () => undefined,
    never,
  );
  t.match(outcome, {
    kind: 'answer',
    answer: {
      text: '',
      stop: 'tool_calls',
      calls: [{ wire_name: 'run_it', arguments_text: '{"command":"ls"}' }],
    },
  });
  if (outcome.kind === 'answer') t.ok(outcome.answer.calls.every((call) => call.provider_id !== ''));
});

t.test('a fetched page is shown with its status, type and where it came from', async (t) => {
  const page = {
    status: 200,
    url: 'http://example.com/home',
    content_type: 'text/html',
    bytes: 1_500,
    text: 'Hello\u001b[2J',
  };
  const { reply, calls } = await playBuiltin('fetch http://example.com/', testContext(t), {
    intercept: () => ({ content: page, is_error: false }),
  });
  t.same(calls, [{ tool: 'web_fetch', arguments: { url: 'http://example.com/' } }]);
  t.match(
    reply,
    /^http:\/\/example\.com\/: status 200, text\/html, 1\.5 KB, from http:\/\/example\.com\/home\.\n\n```\nHello\\u\{1b\}\[2J\n```/,
  );
  const refused = await playBuiltin('fetch http://10.0.0.1/', testContext(t), {
    intercept: () => toolError('10.0.0.1 is a private address'),
  });
  t.match(refused.reply, /^http:\/\/10\.0\.0\.1\/ could not be fetched: 10\.0\.0\.1 is a private address\./);
});
