// The shape of the project: who imports whom, no cycles, nothing dead, small files. Each rule is first shown a breach.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { barrels, cycles, deadExports, deadFiles } from './graph-rules.js';
import { holds } from './holds.js';
import { dependencyBreaches, importBreaches } from './import-rules.js';
import { type Allowed, FUNCTION_LINES_MAX, sizeBreaches } from './size-rules.js';
import { parseFile, projectFiles, ROOT, type SourceFile } from './source.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const files = projectFiles();

/** A project of a few lines. */
const small = (sources: Readonly<Record<string, string>>): SourceFile[] =>
  Object.entries(sources).map(([path, text]) => parseFile(path, text));

const isEntry = (path: string): boolean =>
  /^(?:supervisor|worker)\/main\.ts$/.test(path) ||
  path.endsWith('.test.ts') ||
  path === 'schemas/generate.ts' ||
  path.startsWith('test/bench/') ||
  // Programs that tests start by their path.
  path.startsWith('test/fakes/');

t.test('imports go the way they may', (t) => {
  const breach = (path: string, specifier: string): string[] =>
    importBreaches(small({ [path]: `import { a } from '${specifier}';` }));
  const refused: readonly (readonly [string, string])[] = [
    ['worker/a.ts', '../supervisor/store/open.js'],
    ['worker/a.ts', '../config/load.js'],
    ['supervisor/cli/a.ts', '../../worker/link.js'],
    ['supervisor/cli/a.ts', '../../test/fakes/b.js'],
    ['supervisor/cli/a.ts', '../main.js'],
    ['supervisor/cli/a.ts', '../../schemas/generate.js'],
    ['supervisor/store/a.ts', '../dispatch/settle.js'],
    ['supervisor/processes/a.ts', '../store/open.js'],
    ['supervisor/intake/a.ts', '../dispatch/gate.js'],
    ['supervisor/dispatch/a.ts', '../compose.js'],
    ['supervisor/novelty/a.ts', '../store/open.js'],
    ['supervisor/tools/a.ts', 'better-sqlite3'],
    ['supervisor/tools/a.ts', 'node:child_process'],
    ['supervisor/handlers/a.ts', 'ws'],
    ['shared/a.ts', 'node:fs'],
    ['shared/a.ts', 'msgpackr/inner'],
    ['shared/a.ts', '../config/load.js'],
    ['config/a.ts', 'yaml'],
    ['novelty/a.ts', '../shared/ids.js'],
  ];
  for (const [path, specifier] of refused)
    t.equal(breach(path, specifier).length, 1, `${path} → ${specifier}`);
  const fine: readonly (readonly [string, string])[] = [
    ['supervisor/cli/a.ts', '../store/open.js'],
    ['supervisor/compose.ts', './dispatch/gate.js'],
    ['supervisor/store/a.ts', '../kill-point.js'],
    ['supervisor/kill-point.ts', './store/types.js'],
    ['supervisor/snapshot/a.ts', '../../schemas/tools.json'],
    ['shared/ipc/codec.ts', 'msgpackr'],
    ['worker/tools/a.ts', 'node:child_process'],
  ];
  for (const [path, specifier] of fine) t.same(breach(path, specifier), [], `${path} → ${specifier}`);
  const late = small({ 'worker/a.ts': "const b = await import('../config/load.js');" });
  t.equal(importBreaches(late).length, 1, 'late imports count');
  holds(t, importBreaches(files));
  t.end();
});

t.test('the manifest lists what is imported, and nothing else', (t) => {
  const manifest = { dependencies: { used: '1', idle: '1' }, devDependencies: { tool: '1' } };
  const sources = small({
    'worker/a.ts':
      "import 'used/deep.js'; import '@scope/unknown/x.js'; import 'tool'; import type { A } from 'tool';",
    'test/a.ts': "import 'tool';",
  });
  t.match(dependencyBreaches(sources, manifest, ''), [
    /worker\/a\.ts:1 imports @scope\/unknown,/,
    /worker\/a\.ts:1 imports tool,/,
    /nothing imports idle/,
  ]);
  const real = JSON.parse(read('package.json')) as typeof manifest;
  const scripts = ['build', 'check', 'test'].map((name) => read(`.build/${name}.mjs`)).join('\n');
  holds(t, dependencyBreaches(files, real, scripts));
  t.end();
});

t.test('no file imports itself by way of others', (t) => {
  const loop = small({
    'shared/a.ts': "import { b } from './b.js'; export const a = b;",
    'shared/b.ts': "import type { C } from './c.js'; export const b = 1;",
    'shared/c.ts': "export type C = typeof import('./a.js').a;",
  });
  t.match(cycles(loop), [/shared\/a\.ts → shared\/b\.ts → shared\/c\.ts → shared\/a\.ts/]);
  holds(t, cycles(files));
  t.end();
});

t.test('every export and every file has a user', (t) => {
  const sources = small({
    'supervisor/main.ts':
      "import { used } from './a.js'; used; const { late } = await import('./b.js'); late;",
    'supervisor/a.ts':
      'export const used: Part = 1; export const dead = 2; export type Idle = 3; export type Part = 4; export const tested = 5; export const inner = 6; inner;',
    'supervisor/b.ts': 'export const late = 1; export default 5;',
    'supervisor/c.ts': 'const nobody = 1;',
    'test/unit/a.test.ts':
      "import { inner, tested } from '../../supervisor/a.js'; import { fake } from '../fakes/f.js';",
    'test/fakes/f.ts': 'export const fake = 1;',
  });
  t.match(deadExports(sources), [
    /a\.ts:1 exports dead/,
    /exports Idle/,
    /exports tested, which only tests use/,
    /b\.ts:1 exports default/,
  ]);
  t.match(deadFiles(sources, isEntry), [/supervisor\/c\.ts is reached/]);
  holds(t, deadExports(files));
  holds(t, deadFiles(files, isEntry));
  t.end();
});

t.test('no file only passes on what others export', (t) => {
  t.equal(
    barrels(small({ 'shared/index.ts': "export * from './a.js'; export { b } from './b.js';" })).length,
    1,
  );
  t.equal(barrels(small({ 'shared/a.ts': "export { b } from './b.js'; export const c = 1;" })).length, 0);
  holds(t, barrels(files));
  t.end();
});

t.test('files and functions are small, and those that are not only shrink', (t) => {
  const body = 'a();\n'.repeat(FUNCTION_LINES_MAX);
  const sources = small({ 'shared/a.ts': `export const long = () => {\n${body}};\n${'b();\n'.repeat(300)}` });
  const keys = ['shared/a.ts', 'shared/a.ts#long'] as const;
  const lines = [372, 72] as const;
  const allow = (change: number): Allowed => ({
    [keys[0]]: { lines: lines[0] + change, reason: 'one table, read as a whole' },
    [keys[1]]: { lines: lines[1] + change, reason: 'one table, read as a whole' },
  });
  const group = `t.test('a group', (t) => {\n${"t.test('a thing is done', () => {});\n".repeat(80)}});`;
  t.same(
    sizeBreaches(small({ 'test/unit/a.test.ts': group }), {}),
    [],
    'a group of tests is as long as they are',
  );
  t.match(sizeBreaches(sources, {}), [
    /has 372 lines, more than 300/,
    /function long has 72 lines, more than 70/,
  ]);
  t.same(sizeBreaches(sources, allow(0)), []);
  t.match(sizeBreaches(sources, allow(-1)), [/more than the 371/, /more than the 71/]);
  t.match(sizeBreaches(sources, allow(1)), [/shrank from 373 to 372/, /shrank from 73 to 72/]);
  t.match(sizeBreaches(small({ 'shared/a.ts': 'a();\n' }), allow(0)), [
    /only 1 lines now/,
    /no longer exists/,
  ]);
  holds(t, sizeBreaches(files, JSON.parse(read('test/house/allowed-large.json')) as Allowed));
  t.end();
});
