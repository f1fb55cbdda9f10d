// The gate before a commit: format and lint, then types and bundles, then the tests that read the source.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const steps = [
  ['format and lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']],
  ['types, bundles and house tests', ['.build/test.mjs', '--house']],
];
for (const [name, command] of steps) {
  process.stderr.write(`check: ${name}\n`);
  try {
    execFileSync(process.execPath, command, { stdio: 'inherit' });
  } catch {
    process.stderr.write(`check: ${name} failed\n`);
    process.exit(1);
  }
}
