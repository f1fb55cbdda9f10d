// Takes a worker through its whole life once: hello, a rehearsal in each dialect, one turn of the built-in model.

import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { build } from 'esbuild';

/** The parts of the source that this needs, as a module. */
async function parts() {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { encodeFrame, FrameReader } from './shared/ipc/codec.js';
export { IPC_VERSION } from './shared/ipc/version.js';
export { MODEL, turnFrame } from './test/fakes/turn-frame.js';`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire('${import.meta.url}');`,
    },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

const LIMIT_MS = 20_000;

export async function exerciseWorker([command, ...args]) {
  const { encodeFrame, FrameReader, IPC_VERSION, MODEL, turnFrame } = await parts();
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
    detached: true,
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const [, , , down, up] = child.stdio;
  const send = (frame) => down.write(encodeFrame(frame).bytes);
  const prepare = (dialect) =>
    send({ type: 'prepare', model: { ...MODEL, dialect, url: 'http://127.0.0.1:1/' } });
  const steps = [() => prepare('openai'), () => prepare('anthropic'), () => send(turnFrame())];
  const reader = new FrameReader();
  let outcome = 'it ended early';
  const take = (frame) => {
    if (frame.type === 'ready' || frame.type === 'prepared') steps.shift()?.();
    if (frame.type === 'failed') outcome = frame.message;
    if (frame.type === 'turn_done') outcome = frame.outcome.status;
  };
  down.on('error', () => undefined);
  up.on('data', (chunk) => {
    reader.push(chunk);
    for (let read = reader.read(); read.kind === 'value'; read = reader.read()) take(read.value);
  });
  send({ type: 'hello', version: IPC_VERSION, worker_id: 'build' });
  await new Promise((resolve) => child.once('exit', resolve));
  if (outcome !== 'completed') throw new Error(outcome);
}
