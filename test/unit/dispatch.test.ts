import t from 'tap';
import { makeMasker } from '../../shared/mask.js';
import { TURN_STATUSES } from '../../shared/outcome.js';
import { behaviourOf, type PERMISSION_MODES } from '../../shared/policy/permission-mode.js';
import { endingOf } from '../../supervisor/dispatch/ending-of.js';
import { commandExitCode, jobExitCode } from '../../supervisor/exit-codes.js';
import { requestUrl } from '../../supervisor/intelligence/model-settings.js';
import type { WorkerExit } from '../../supervisor/processes/types.js';

const exit = (fields: Partial<WorkerExit>): WorkerExit => ({
  code: 0,
  signal: null,
  fault: null,
  swept: 0,
  prints: '',
  ...fields,
});

t.test('the ending of a turn', async (t) => {
  const evidence = {
    terminal: null,
    exit: null,
    endRequested: null,
    fault: null,
    rounds: 1,
    toolCalls: 2,
    lostCall: null,
    mask: (text: string) => text.replace('secret', '***'),
  } as const;
  const outcome = (status: (typeof TURN_STATUSES)[number], reply = 'text') => ({
    kind: 'outcome' as const,
    outcome: { status, reply, rounds: 3, tool_calls: 2 },
  });

  t.test('is what the worker said, for each of the eight', async (t) => {
    for (const status of TURN_STATUSES) {
      const ending = endingOf({ ...evidence, terminal: outcome(status) });
      t.equal(ending.status, status);
      t.equal(ending.reply, 'text');
      t.equal(ending.error === null, status === 'completed', `${status} carries a reason unless completed`);
    }
  });
  t.test('names the signal that ended a worker', async (t) => {
    const ending = endingOf({ ...evidence, exit: exit({ code: null, signal: 'SIGKILL' }) });
    t.equal(ending.status, 'failed');
    t.match(ending.error, { code: 'worker_lost', message: /SIGKILL/ });
  });
  t.test('counts an exit with code 0 and no result as a failure', async (t) => {
    const ending = endingOf({ ...evidence, exit: exit({ code: 0 }) });
    t.match(ending, { status: 'failed', error: { code: 'worker_lost' } });
  });
  t.test('is cancelled when a cancel was accepted, even if an answer raced it', async (t) => {
    for (const reason of ['cancel', 'operator', 'drain'] as const) {
      t.equal(
        endingOf({ ...evidence, endRequested: reason, terminal: outcome('completed') }).status,
        'cancelled',
      );
      t.equal(
        endingOf({ ...evidence, endRequested: reason, exit: exit({ signal: 'SIGKILL' }) }).status,
        'cancelled',
      );
    }
  });
  t.test('is deadline when that is why the worker was ended', async (t) => {
    const ending = endingOf({ ...evidence, endRequested: 'deadline', exit: exit({ signal: 'SIGTERM' }) });
    t.equal(ending.status, 'deadline');
  });
  t.test('keeps an answer that came before the deadline was called', async (t) => {
    t.equal(
      endingOf({ ...evidence, endRequested: 'deadline', terminal: outcome('completed') }).status,
      'completed',
    );
  });
  t.test('carries a fault of the wire and masks what it says', async (t) => {
    const fault = { code: 'protocol_violation', message: 'bad frame with secret' };
    t.same(endingOf({ ...evidence, fault, exit: exit({}) }).error, {
      code: 'protocol_violation',
      message: 'bad frame with ***',
    });
  });
});

t.test('exit codes of a job are pinned', async (t) => {
  const end = { errorCode: null, endRequested: null, signal: null, refusedCalls: 0 } as const;
  const codes = Object.fromEntries(TURN_STATUSES.map((status) => [status, jobExitCode({ ...end, status })]));
  t.same(codes, {
    completed: 0,
    failed: 1,
    cancelled: 1,
    refused: 5,
    exhausted_steps: 7,
    exhausted_tokens: 7,
    deadline: 124,
    loop_detected: 3,
  });
  t.equal(jobExitCode({ ...end, status: 'failed', errorCode: 'model_unreachable' }), 4);
  t.equal(jobExitCode({ ...end, status: 'failed', refusedCalls: 1 }), 8);
  t.equal(jobExitCode({ ...end, status: 'cancelled', signal: 'SIGINT' }), 130);
  t.equal(jobExitCode({ ...end, status: 'cancelled', signal: 'SIGTERM' }), 143);
  t.equal(commandExitCode('usage'), 2);
  t.equal(commandExitCode('invalid_config'), 2);
  t.equal(commandExitCode('state_in_use'), 9);
  t.equal(commandExitCode('state_damaged'), 10);
  t.equal(commandExitCode('state_newer'), 10);
});

t.test('a permission mode', async (t) => {
  const asked = (mode: (typeof PERMISSION_MODES)[number]) =>
    (['read', 'search', 'edit', 'command', 'network', 'state', 'control'] as const).filter(
      (action) => behaviourOf(mode, action) === 'ask',
    );
  t.same(asked('full_access'), []);
  t.same(asked('auto_accept_edits'), ['command', 'network']);
  t.same(asked('supervised'), ['edit', 'command', 'network']);
});

t.test('the masker', async (t) => {
  const masker = makeMasker(['canary-key-123', 'canary-key-123-longer', 'a"b\nc-secret', 'abc']);
  t.test('takes secrets out of text, JSON values and JSON keys', async (t) => {
    t.equal(masker.text('Bearer canary-key-123!'), 'Bearer ***!');
    t.equal(masker.text('canary-key-123-longer'), '***', 'a longer secret disappears whole');
    t.same(masker.json({ list: ['x canary-key-123'], 'canary-key-123': 1 }), { list: ['x ***'], '***': 1 });
  });
  t.test('knows a value in its JSON and URL spellings', async (t) => {
    t.equal(masker.text(JSON.stringify({ k: 'a"b\nc-secret' })), '{"k":"***"}');
    t.equal(masker.text(encodeURIComponent('a"b\nc-secret')), '***');
  });
  t.test('takes the credentials out of URLs in what is kept, and leaves the rest of them', async (t) => {
    const cases = [
      ['see https://me:pass@h.example/a?b=c.', 'see https://***@h.example/a?b=c.'],
      ['git clone https://ghp_123456@h.example/x', 'git clone https://***@h.example/x'],
      ['postgres://app:hunter22@db/app', 'postgres://***@db/app'],
      ['http://h/?token=abcdef1&page=2&api_key=abcdef2#x', 'http://h/?token=***&page=2&api_key=***#x'],
      ['ssh://git@h.example/x', 'ssh://git@h.example/x'],
      ['https://h.example/@me?page=12345678&q=a@b:c', 'https://h.example/@me?page=12345678&q=a@b:c'],
      ['`https://h/?token=$TOKEN` and a@b.example', '`https://h/?token=$TOKEN` and a@b.example'],
    ] as const;
    for (const [text, kept] of cases) t.equal(masker.kept(text), kept);
    t.same(masker.kept({ url: 'http://u:p@h', n: [1, 'canary-key-123'] }), {
      url: 'http://***@h',
      n: [1, '***'],
    });
    t.equal(
      masker.text('https://me:pass@h.example'),
      'https://me:pass@h.example',
      'what is run stays as it is',
    );
    const started = process.hrtime.bigint();
    masker.kept(`http://${'a'.repeat(2_000_000)}?${'&token'.repeat(200_000)}`);
    t.ok(process.hrtime.bigint() - started < 1_000_000_000n, 'no text makes it slow');
  });
  t.test('leaves values alone that are too short to be secrets', async (t) => {
    t.equal(masker.text('abc'), 'abc');
  });
});

t.test('an endpoint may be a server, its /v1 or the whole URL', async (t) => {
  const whole = 'https://h.example/v1/chat/completions';
  for (const base of [
    'https://h.example',
    'https://h.example/',
    'https://h.example/v1',
    'https://h.example/v1/',
    whole,
  ])
    t.equal(requestUrl('openai', base), whole, base);
  t.equal(requestUrl('openai', 'https://h.example/proxy'), 'https://h.example/proxy/v1/chat/completions');
  t.equal(requestUrl('openai', 'https://h.example/v1beta'), 'https://h.example/v1beta/chat/completions');
  t.equal(requestUrl('anthropic', 'https://h.example'), 'https://h.example/v1/messages');
  const converse = 'https://h.example/model/m.x%3A0/converse-stream';
  for (const base of ['https://h.example/', converse, 'https://h.example/model/m.x%3A0/converse'])
    t.equal(requestUrl('bedrock', base, 'm.x:0'), converse, base);
});
