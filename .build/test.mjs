// Builds, then runs the compiled tests with tap and closes with one line: "N passed, N failed".
//   npm test                      everything
//   npm run test:fast             what needs no child processes: unit, protocol, store, turn
//   npm test -- store run-job     only files whose path contains one of the words
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const FAST = ['unit', 'protocol', 'store', 'turn'];
const args = process.argv.slice(2);
const fast = args.includes('--fast');
const house = args.includes('--house');
const words = args.filter((arg) => !arg.startsWith('--'));

if (!args.includes('--no-build')) execFileSync(process.execPath, ['.build/build.mjs'], { stdio: 'inherit' });

const all = readdirSync('dist/compiled/test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.js'))
  .sort();
const files = all
  .filter((path) => !fast || FAST.some((folder) => path.startsWith(`${folder}/`)))
  .filter((path) => !house || path.startsWith('house/'))
  .filter((path) => words.length === 0 || words.some((word) => path.includes(word)))
  .map((path) => join('dist/compiled/test', path));

if (files.length === 0) {
  process.stderr.write(`No test file matches ${JSON.stringify(words)}; there are ${all.length} in test/.\n`);
  process.exit(2);
}

const tap = 'node_modules/tap/dist/esm/run.mjs';
// The plugin set of .taprc is compiled into tap once; a fresh install must do it before the first run.
execFileSync(process.execPath, [tap, 'build'], { stdio: 'ignore' });
const plainSpawn = `--node-arg=--import=${new URL('plain-spawn.mjs', import.meta.url)}`;
const child = spawn(
  process.execPath,
  [tap, 'run', '--reporter=terse', '--jobs=2', '--timeout=120', plainSpawn, ...files],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined, TAP: undefined },
  },
);

let output = '';
child.stdout.setEncoding('utf8');
child.stdout.on('data', (text) => {
  output += text;
  process.stdout.write(text);
});
child.on('close', (code, signal) => {
  const totals = [...output.matchAll(/# \{ total: \d+(?:, pass: (\d+))?(?:, fail: (\d+))?[^}]*\}/g)].at(-1);
  const passed = Number(totals?.[1] ?? 0);
  const failed = Number(totals?.[2] ?? 0);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exit(signal !== null || code === null ? 1 : failed > 0 || passed === 0 ? 1 : code);
});
