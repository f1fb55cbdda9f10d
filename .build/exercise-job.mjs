// Takes the command through one whole job of the built-in model, so that what a job runs is compiled beforehand.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const LIMIT_MS = 20_000;

export async function exerciseJob([command, ...args]) {
  const home = mkdtempSync(join(tmpdir(), 'turnd-build-'));
  try {
    const job = [
      '--prompt',
      'list .',
      '--dialect',
      'builtin',
      '--output',
      'json',
      '--state-dir',
      join(home, 'state'),
    ];
    const env = { PATH: process.env.PATH, HOME: home };
    const { stdout } = await promisify(execFile)(command, [...args, ...job], {
      env,
      timeout: LIMIT_MS,
    });
    const { status } = JSON.parse(stdout);
    if (status !== 'completed') throw new Error(`the job ended ${status}`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
