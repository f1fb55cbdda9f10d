// Builds everything once: type-checked modules for the tests under dist/compiled, and the bundles that run
// under dist: turnd.cjs (the command), worker.cjs (the worker process). Bundles are what starts fast.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { splitWithCache } from './code-cache.mjs';
import { exerciseJob } from './exercise-job.mjs';
import { exerciseWorker } from './exercise-worker.mjs';
import { lazyModules } from './lazy-modules.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

const flags = new Set(process.argv.slice(2));
if (flags.has('--clean')) rmSync('dist', { recursive: true, force: true });
mkdirSync('dist', { recursive: true });

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'import.meta.url': '__moduleUrl' },
  // A script that starts from a code cache has no import() of its own; what is loaded later is required then.
  supported: { 'dynamic-import': false },
  banner: { js: 'const __moduleUrl=require("node:url").pathToFileURL(__filename).href;' },
};

async function bundles() {
  await build({
    ...shared,
    entryPoints: { turnd: 'supervisor/main.ts' },
    plugins: [lazyModules],
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    banner: { js: `#!/usr/bin/env node\n${shared.banner.js}` },
  });
  await build({
    ...shared,
    entryPoints: { worker: 'worker/main.ts' },
    // Only turns with an output schema need it, and it is half as large as all the rest.
    external: ['ajv', 'ajv/*'],
    plugins: [lazyModules],
    // All it is used for is createRequire, which takes a path just as well, and for less.
    define: { 'import.meta.url': '__filename' },
    banner: {},
    minifyIdentifiers: true,
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
  });
  await splitWithCache('dist', 'worker', exerciseWorker);
  await splitWithCache('dist', 'turnd', exerciseJob);
  chmodSync('dist/turnd.cjs', 0o755);
}

function compile() {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], { stdio: 'inherit' });
}

function copyAssets() {
  if (existsSync('supervisor/store/migrations'))
    cpSync('supervisor/store/migrations', 'dist/migrations', { recursive: true });
}

copyAssets();
if (!flags.has('--compile-only')) await bundles();
if (!flags.has('--bundles-only')) compile();
