// What no file may hold, and what documentation and generated files must keep true. Each rule is first shown a breach.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generateSchemas } from '../../schemas/generate.js';
import { configFields, unreadKeys } from './config-rules.js';
import { holds } from './holds.js';
import { parseFile, projectFiles, ROOT, type SourceFile } from './source.js';
import {
  folderBreaches,
  foldersToExplain,
  lockBreaches,
  readmeBreaches,
  textFiles,
  wordBreaches,
} from './text-rules.js';
import { commentBreaches, testNameBreaches, tidyBreaches } from './tidy-rules.js';

const files = projectFiles();
const texts = textFiles();
const readIfThere = (path: string): string | undefined =>
  existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : undefined;
const read = (path: string): string => readIfThere(path) ?? '';

const one = (path: string, text: string): SourceFile[] => [parseFile(path, text)];

t.test('no file hides a clock, randomness, output, the environment or a type', (t) => {
  const breaches: readonly (readonly [string, string])[] = [
    ['worker/a.ts', 'const a = Date.now();'],
    ['worker/a.ts', 'const a = new Date();'],
    ['worker/a.ts', 'performance.now();'],
    ['worker/a.ts', 'setTimeout(() => 1, 5);'],
    ['worker/a.ts', 'fetch(u, { signal: AbortSignal.timeout(5) });'],
    ['worker/a.ts', "import { setTimeout as wait } from 'node:timers/promises';"],
    ['worker/a.ts', 'Math.random();'],
    ['worker/a.ts', "import { randomUUID } from 'node:crypto';"],
    ['worker/a.ts', 'crypto.randomUUID();'],
    ['worker/a.ts', "console.log('x');"],
    ['test/unit/a.ts', 'console.error(1);'],
    ['worker/a.ts', 'const a = process.env.HOME;'],
    ['shared/a.ts', "import { env } from 'node:process';"],
    ['worker/a.ts', 'const a: any = 1;'],
    ['worker/a.ts', 'const a = b as Record<string, any>;'],
    ['worker/a.ts', 'const a = b!;'],
    ['test/unit/a.test.ts', "t.skip('a test that waits for better days', () => {});"],
    ['test/unit/a.test.ts', "t.test('a test that waits', { skip: 'later' }, () => {});"],
    ['test/unit/a.test.ts', "t.test('a test that is alone', { only: true }, () => {});"],
    ['test/unit/a.test.ts', "t.pass('fine');"],
  ];
  for (const [path, text] of breaches) t.equal(tidyBreaches(one(path, text)).length, 1, `${path}: ${text}`);
  const fine: readonly (readonly [string, string])[] = [
    ['worker/a.ts', 'const a = new Date(5); clock.now(); const b = signal.timeout;'],
    ['shared/clock.ts', 'const a = Date.now(); setTimeout(a, 1);'],
    ['supervisor/a.ts', 'const a = process.env.HOME;'],
    ['worker/a.ts', "import { setImmediate as turnOfTheLoop } from 'node:timers/promises';"],
    ['worker/a.ts', "import { createHash } from 'node:crypto'; const a = b !== c;"],
    ['test/unit/a.test.ts', "t.test('a test with an option', () => { f({ skip: 1 }); });"],
  ];
  for (const [path, text] of fine) t.same(tidyBreaches(one(path, text)), [], `${path}: ${text}`);
  holds(t, tidyBreaches(files));
  t.end();
});

t.test('comments begin each file, promise no later work and switch nothing off', (t) => {
  const breaches = [
    '// A file.\n// TO' + 'DO: the rest',
    '// A file.\n// @ts-ignore\na();',
    '// A file.\n// biome-ignore lint/a: b',
    '// A file.\n// 1. first we do this',
    'const a = 1;',
    '\n\n// Too late.\n',
  ];
  for (const text of breaches) t.equal(commentBreaches(one('worker/a.ts', text)).length, 1, text);
  t.same(
    commentBreaches(one('worker/a.ts', '// A file.\n// biome-ignore lint/a/b: the name is theirs\na();')),
    [],
  );
  holds(t, commentBreaches(files));
  t.end();
});

t.test('tests are named by sentences of their own', (t) => {
  const twice =
    "t.test('a call runs once', f); t.test('a call runs once', g); t.test('works', f); t.test('a group', () => t.test('does one thing', f));";
  t.match(testNameBreaches(one('test/unit/a.test.ts', twice)), [/stands twice/, /in a sentence/]);
  holds(t, testNameBreaches(files));
  t.end();
});

t.test('no text names a machine, a registry, or what is not here', (t) => {
  const path = 'README.md';
  for (const text of ['see /wo' + 'rk/main/a', 'as in engine (B' + '12)', 'read contra' + 'cts.md']) {
    t.equal(wordBreaches([{ path, text }]).length, 1, text);
  }
  holds(t, wordBreaches(texts));
  t.equal(lockBreaches('  "resolved": "https://host/a.tgz",\n').length, 1);
  t.equal(lockBreaches('  "a": "https://registry.example/a.tgz",\n').length, 1);
  holds(t, lockBreaches(read('package-lock.json')));
  t.end();
});

t.test('what a README names exists', (t) => {
  const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);
  const lies = [
    '`shared/nothing.ts`',
    '`nothing.ts`',
    '`config/nothing.yaml`',
    '`npm run nothing`',
    '`supervisor/nothing/`',
  ];
  for (const text of lies) t.equal(readmeBreaches({ path: 'README.md', text }, scripts).length, 1, text);
  const truths =
    '`shared/ids.ts` `package.json` `npm run check` `turn/completed` `application/json` `turnd.db` `~/x.ts` `*.ts`';
  t.same(readmeBreaches({ path: 'README.md', text: truths }, scripts), []);
  t.same(readmeBreaches({ path: 'config/README.md', text: '`load.ts`' }, scripts), [], 'beside the README');
  const readmes = texts.filter(({ path }) => path.endsWith('.md'));
  t.ok(readmes.length > 0);
  holds(
    t,
    readmes.flatMap((readme) => readmeBreaches(readme, scripts)),
  );
  t.end();
});

t.test('every folder explains itself on one page', (t) => {
  t.match(
    folderBreaches(['a', 'b'], (path) => (path === 'a/README.md' ? 'x\n'.repeat(61) : undefined)),
    [/a\/README\.md has 61 lines/, /b\/README\.md is missing/],
  );
  t.ok(foldersToExplain().includes('supervisor/store'));
  holds(t, folderBreaches(foldersToExplain(), readIfThere));
  t.end();
});

t.test('every configuration key is read by the supervisor', (t) => {
  const reading =
    'const { run, exec: { spill_bytes }, model: m } = config.limits; m.call_ms; const n = config.limits.model; n.idle_ms; run.steps; const patience = config.limits.model; patience.idle_ms; function f({ agent: { name } }) {}';
  t.match(
    unreadKeys(
      ['run.steps', 'exec.spill_bytes', 'agent.name', 'model.idle_ms', 'run.tokens'],
      one('supervisor/a.ts', reading),
    ),
    [/nobody reads run\.tokens/],
  );
  const supervisor = files.filter(
    ({ path }) => path.startsWith('supervisor/') && !path.startsWith('supervisor/cli/config-'),
  );
  holds(t, unreadKeys(configFields(), supervisor));
  t.end();
});

t.test('the generated schemas are fresh; `npm run schemas` writes them', (t) => {
  const fresh = generateSchemas();
  const committed = readdirSync(join(ROOT, 'schemas')).filter((name) => name.endsWith('.json'));
  t.same(
    committed.sort(),
    [...fresh.keys()].sort(),
    'the files are those that are generated; run npm run schemas',
  );
  for (const [name, text] of fresh) {
    t.equal(
      read(`schemas/${name}`),
      text,
      `schemas/${name} is what its definition says; run npm run schemas`,
    );
  }
  t.match(fresh.get('config.json'), /"deadline"/);
  t.end();
});
