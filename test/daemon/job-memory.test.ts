// Endless, huge and binary output stays out of the supervisor: its memory does not follow what tools print.
import { join } from 'node:path';
import t from 'tap';
import { scratch, startJob } from '../fakes/job.js';
import { memoryOf } from '../fakes/processes.js';

const MB = 1024 * 1024;

const OUTPUTS: Readonly<Record<string, string>> = {
  'a million lines': 'seq 1000000',
  'one endless line': "tr '\\0' x </dev/zero | head -c 500000000",
  'binary noise': 'head -c 300000000 /dev/urandom',
  'output without end': 'yes',
};

for (const [name, command] of Object.entries(OUTPUTS)) {
  t.test(`${name} leaves the supervisor's memory within 50 MB of where it was`, async (t) => {
    let release: () => void = () => undefined;
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const job = await startJob(
      t,
      [
        { calls: [{ name: 'exec_command', arguments: { command: 'echo warm' } }] },
        {
          hold,
          calls: [{ name: 'exec_command', arguments: { command, timeout_ms: 4_000, yield_ms: 60_000 } }],
        },
        { text: 'seen' },
      ],
      { cwd: scratch(t), stateDir: join(scratch(t), 'state') },
    );
    await job.model.waitForRequest(2);
    const before = memoryOf(job.child.pid ?? 0);
    release();
    await job.model.waitForRequest(3, 60_000);
    const after = memoryOf(job.child.pid ?? 0);
    const finished = await job.finished;
    t.equal(finished.code, 0, finished.stderr);
    const grown = after.highest - before.rss;
    t.ok(grown < 50 * MB, `grew by ${Math.round(grown / MB)} MB at most`);
    t.ok((job.model.requests[2]?.bodyText.length ?? 0) < MB, 'the model sees a bounded part');
  });
}
