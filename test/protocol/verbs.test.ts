// The verbs of the command against the edge of a daemon: what they print, and the codes that scripts rely on.
import { PassThrough, Writable } from 'node:stream';
import t from 'tap';
import { runProgram } from '../../supervisor/cli/program.js';
import { type GatewayStage, gatewayStage } from '../fakes/gateway-stage.js';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function sink(): Writable & { text: string } {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      stream.text += String(chunk);
      done();
    },
  }) as Writable & { text: string };
  stream.text = '';
  return stream;
}

async function turnd(dir: string, ...args: string[]): Promise<Ran> {
  const [stdout, stderr] = [sink(), sink()];
  const io = { stdin: new PassThrough(), stdout, stderr, env: { HOME: dir }, cwd: dir };
  const code = await runProgram([...args, '--state-dir', dir], io, null);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** Plays the next turn that is accepted. */
function onAccept(stage: GatewayStage, play: (turnId: string) => void): void {
  const stop = stage.engine.subscribe((turnId, event) => {
    if (event.type !== 'journal' || event.event.kind !== 'user_message') return;
    stop();
    setImmediate(() => play(turnId));
  });
}

t.test('send', async (t) => {
  const stage = await gatewayStage(t);
  const { engine } = stage;
  t.test('is over when the message is accepted', async (t) => {
    const { code, stdout } = await turnd(stage.dir, 'send', 'Do it.');
    t.equal(code, 0);
    const row = engine.row(stdout.trim());
    t.match(row, { thread_id: 'root', state: 'queued' });
    t.equal(engine.store.inbox.ofTurn(row.turn_id)?.text, 'Do it.');
    engine.finish(row.turn_id);
  });
  t.test('prints the reply as it comes, and ends as the turn does', async (t) => {
    onAccept(stage, (turnId) => {
      engine.say(turnId, 'One moment.', 'item_a');
      engine.call(turnId, 'call_1', 'exec_command', { command: 'ls' });
      engine.say(turnId, 'All done.', 'item_b');
      engine.finish(turnId);
    });
    const { code, stdout } = await turnd(stage.dir, 'send', '--thread', 'desk', '--wait', 'Go.');
    t.equal(code, 0);
    t.equal(stdout, 'One moment.\nAll done.\n');
  });
  t.test('tells how it failed, with the exit code of a job', async (t) => {
    onAccept(stage, (turnId) => engine.finish(turnId, 'exhausted_steps'));
    const failed = await turnd(stage.dir, 'send', '--wait', '--json', 'Go.');
    t.equal(failed.code, 7);
    t.match(JSON.parse(failed.stdout), { turn: { status: 'Blocked', outcome: 'exhausted_steps' } });
    t.match(failed.stderr, /exhausted_steps: it was exhausted_steps/);
  });
  t.test('does not wait for ever for a daemon that goes away', async (t) => {
    onAccept(stage, () => void stage.gateway.close());
    const lost = await turnd(stage.dir, 'send', '--wait', 'Go.');
    t.equal(lost.code, 1);
    t.match(lost.stderr, /the connection to the daemon ended \(1001/);
  });
});

t.test('ps, status and threads tell how the daemon stands', async (t) => {
  const stage = await gatewayStage(t);
  const turnId = (await turnd(stage.dir, 'send', '--thread', 'desk', 'Tidy \u001b[31mup')).stdout.trim();
  stage.engine.progress(turnId, { event: 'round', round: 2 });
  const ps = await turnd(stage.dir, 'ps');
  t.match(ps.stdout.split('\n')[0], /^TURN +THREAD +STATE +PID +PGID +AGE +ROUND +TOOL +TOKENS +MEMORY$/);
  t.match(ps.stdout.split('\n')[1], new RegExp(`^${turnId} +desk +queued +- +- +0s +2 +- +0 +-$`));
  t.match(JSON.parse((await turnd(stage.dir, 'ps', '--json')).stdout), {
    turns: [{ turn_id: turnId, round: 2 }],
  });
  t.match((await turnd(stage.dir, 'status')).stdout, /state +running\nturns +0 running, 1 queued, 0 parked/);
  t.match(JSON.parse((await turnd(stage.dir, 'status', '--json')).stdout), { state: 'running' });
  const threads = await turnd(stage.dir, 'threads');
  t.match(threads.stdout, /desk +Active .*Tidy \\u001b\[31mup/, 'and nothing in it moves the cursor');
});

t.test('pause, resume, kill and drain do what they say', async (t) => {
  const stage = await gatewayStage(t);
  t.equal((await turnd(stage.dir, 'pause')).stdout, 'paused\n');
  t.equal(stage.engine.standing.paused, true);
  t.equal((await turnd(stage.dir, 'resume')).stdout, 'running\n');
  const turnId = (await turnd(stage.dir, 'send', 'x')).stdout.trim();
  const killed = await turnd(stage.dir, 'kill', turnId);
  t.same([killed.code, killed.stdout], [0, `${turnId} ended: cancelled\n`]);
  t.same([(await turnd(stage.dir, 'kill', turnId)).code, stage.engine.ends], [1, [turnId]]);
  const unknown = await turnd(stage.dir, 'kill', 'turn_unknown');
  t.equal(unknown.code, 1);
  t.match(unknown.stderr, /there is no turn "turn_unknown"/);
  const drained = turnd(stage.dir, 'drain');
  while (!stage.engine.standing.draining) await new Promise((resolve) => setImmediate(resolve));
  await stage.gateway.close();
  t.same(await drained, { code: 0, stdout: 'drained\n', stderr: '' });
});

t.test('a question is listed and answered', async (t) => {
  const stage = await gatewayStage(t);
  const turnId = (await turnd(stage.dir, 'send', 'x')).stdout.trim();
  stage.engine.ask(turnId, 'call_q', 'Which of them?');
  const listed = await turnd(stage.dir, 'questions');
  t.match(listed.stdout, /^call_q +root\n {2}Which of them\?\n {2}- yes\n {2}- no\n$/);
  t.same(await turnd(stage.dir, 'answer', 'call_q', 'yes'), { code: 0, stdout: 'answered\n', stderr: '' });
  const again = await turnd(stage.dir, 'answer', 'call_q', 'no');
  t.equal(again.code, 1);
  t.match(again.stderr, /has been answered/);
});

t.test('without a daemon the verbs say so', async (t) => {
  const none = await turnd(t.testdir({}), 'status');
  t.equal(none.code, 1);
  t.match(none.stderr, /no daemon runs on .*; turnd serve starts one/);
  const stage = await gatewayStage(t);
  await stage.gateway.close();
  t.equal((await turnd(stage.dir, 'ps')).code, 1);
});
