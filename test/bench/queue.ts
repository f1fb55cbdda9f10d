// A full queue: a thousand one-round turns on the real daemon, four at once, against as many bare Node processes, four at
// once; what the supervisor itself spends on a turn, and whether it grows.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect } from '../../shared/client/client.js';
import { systemClock } from '../../shared/clock.js';
import { openReader } from '../../supervisor/store/open.js';
import { eventually, memoryOf } from '../fakes/processes.js';
import { cleanEnv, TURND } from '../fakes/run-turnd.js';
import type { BenchRow } from './bench-row.js';

const TURNS = 1_000;
const THREADS = 100;
const AT_ONCE = 4;
const BARES = 300;
const RATE_SHARE = 0.8;
const CPU_MS = 4;
const GROWTH_MB = 16;
/** Length of one clock tick of the kernel's CPU accounts. */
const TICK_MS = 10;

export async function queueBench(): Promise<BenchRow[]> {
  const home = mkdtempSync(join(tmpdir(), 'turnd-bench-'));
  const model = await startModel();
  try {
    const bare = await bareRate();
    const { tookMs, cpuMs, growthMb } = await serveQueue(home, model);
    // Before and after: the machine may have changed its mind meanwhile.
    const baseline = (bare + (await bareRate())) / 2;
    const rate = (TURNS / tookMs) * 1_000;
    return [
      {
        name: `queue: ${TURNS} one-round turns, ${AT_ONCE} at once, against bare processes`,
        unit: '1/s',
        value: rate,
        baseline,
        ratio: rate / baseline,
        bound: `>= ${RATE_SHARE}x`,
        ok: rate / baseline >= RATE_SHARE,
      },
      {
        name: 'queue: CPU of the supervisor for a turn',
        unit: 'ms',
        value: cpuMs / TURNS,
        bound: `<= ${CPU_MS} ms`,
        ok: cpuMs / TURNS <= CPU_MS,
      },
      {
        name: 'queue: growth of the supervisor from the first quarter to the end',
        unit: 'MB',
        value: growthMb,
        bound: `<= ${GROWTH_MB} MB`,
        ok: growthMb <= GROWTH_MB,
      },
    ];
  } finally {
    model.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** The least that is a model server: what is measured is not it. */
async function startModel(): Promise<Server> {
  const chunk = (delta: object, more: object): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
  const usage = { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102 };
  const body = [
    chunk({ role: 'assistant', content: 'done' }, {}),
    chunk({}, { finish_reason: 'stop' }),
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ].join('');
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Bare processes a second, `AT_ONCE` at once. */
async function bareRate(): Promise<number> {
  const startedMs = systemClock.monotonic();
  let left = BARES;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const child = spawn(process.execPath, ['-e', '0'], { cwd: '/', env: cleanEnv('/'), stdio: 'ignore' });
      await new Promise((resolve) => child.once('exit', resolve));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return (BARES / (systemClock.monotonic() - startedMs)) * 1_000;
}

interface Served {
  readonly tookMs: number;
  readonly cpuMs: number;
  readonly growthMb: number;
}

async function serveQueue(home: string, model: Server): Promise<Served> {
  const stateDir = join(home, 'state');
  const config = join(home, 'turnd.yaml');
  const { port } = model.address() as AddressInfo;
  writeFileSync(
    config,
    [
      `intelligence: {endpoints: "http://127.0.0.1:${port}/v1", model: m}`,
      `agent: {max_parallel_turns: ${AT_ONCE}}`,
      'gateway: {listen: "http://127.0.0.1:0"}',
    ].join('\n'),
  );
  const daemon = spawn(
    process.execPath,
    [TURND, 'serve', '--config', config, '--state-dir', stateDir, '--cwd', home],
    { cwd: home, env: cleanEnv(home), stdio: 'ignore' },
  );
  const gone = new Promise((resolve) => daemon.once('exit', resolve));
  try {
    const mark = join(stateDir, 'daemon.json');
    if (!(await eventually(() => existsSync(mark), 15_000))) throw new Error('the daemon did not start');
    const { url, token_file: file } = JSON.parse(readFileSync(mark, 'utf8')) as Record<
      'url' | 'token_file',
      string
    >;
    const client = await connect({ url, token: readFileSync(file, 'utf8').trim() });
    await fill(client);
    return await drained(client, stateDir, daemon.pid ?? 0);
  } finally {
    daemon.kill('SIGKILL');
    await gone;
  }
}

/** All of it is accepted before any of it starts. */
async function fill(client: Client): Promise<void> {
  await client.call('operator/pause', {});
  const { workspace } = await client.call('workspace/default', {});
  for (let n = 0; n < THREADS; n += 1)
    await client.call('thread/start', { thread_id: `t${n}`, workspace_id: workspace.id });
  for (let n = 0; n < TURNS; n += 1)
    await client.call('turn/start', {
      thread_id: `t${n % THREADS}`,
      turn_id: `turn_${n}`,
      input: [{ type: 'text', text: `Message ${n}.` }],
    });
}

async function drained(client: Client, stateDir: string, pid: number): Promise<Served> {
  const opened = openReader(stateDir);
  if (!opened.ok) throw new Error(opened.failure.message);
  const { reader } = opened;
  // Asked of the store and not of the daemon, whose time is measured.
  const left = (): number => reader.turns.inStates(['queued', 'starting', 'running', 'stopping']).length;
  const beforeMs = cpuOf(pid);
  const startedMs = systemClock.monotonic();
  await client.call('operator/resume', {});
  client.close();
  let early: number | null = null;
  for (let waiting = left(); waiting > 0; waiting = left()) {
    if (early === null && waiting <= TURNS * 0.75) early = memoryOf(pid).rss;
    await new Promise<void>((resolve) => systemClock.after(300, resolve));
  }
  const tookMs = systemClock.monotonic() - startedMs;
  const growthMb = (memoryOf(pid).rss - (early ?? 0)) / 2 ** 20;
  reader.close();
  return { tookMs, cpuMs: cpuOf(pid) - beforeMs, growthMb };
}

/** Of this process alone, user and system, in milliseconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
