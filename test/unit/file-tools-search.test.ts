// grep_files and glob_files on real trees, with patterns and files that want to be trouble.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import t from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import { matchesGlob, parseGlob } from '../../worker/tools/search/glob.js';
import { isIgnored, parseIgnore } from '../../worker/tools/search/ignore-rules.js';
import { newReport, walkFiles } from '../../worker/tools/search/walk-files.js';
import { type TestTools, testTools } from '../fakes/tool-context.js';

const lines = (content: JsonObject): string[] =>
  (content['matches'] as { path: string; line: number }[]).map(({ path, line }) => `${path}:${line}`);

t.test('globs match as written', (t) => {
  const matches = (pattern: string, path: string): boolean =>
    (parseGlob(pattern) ?? []).some((glob) => matchesGlob(glob, path.split('/')));
  const yes: [pattern: string, path: string][] = [
    ['*.ts', 'a.ts'],
    ['*.ts', '.hidden.ts'],
    ['**/*.ts', 'a.ts'],
    ['**/*.ts', 'x/y/a.ts'],
    ['src/**', 'src/a/b'],
    ['src/**/b', 'src/b'],
    ['**/x/**/y', 'a/x/b/c/y'],
    ['a?c', 'abc'],
    ['a?c', 'a😀c'],
    ['[a-c]x', 'bx'],
    ['[!a-c]x', 'dx'],
    ['[]]x', ']x'],
    ['{a,b}/*.{js,ts}', 'b/z.ts'],
    ['{a,{b,c}}', 'c'],
    ['{a}', '{a}'],
    ['a[', 'a['],
    ['\\*', '*'],
    ['a**b', 'axxb'],
    ['./a', 'a'],
    ['*', 'anything'],
  ];
  const no: [pattern: string, path: string][] = [
    ['*.ts', 'x/a.ts'],
    ['a?c', 'ac'],
    ['[!a-c]x', 'ax'],
    ['src/**', 'lib/a'],
    ['\\*', 'a'],
    ['a*b', 'a/b'],
    ['{a,b}', 'c'],
  ];
  for (const [pattern, path] of yes) t.equal(matches(pattern, path), true, `${pattern} ${path}`);
  for (const [pattern, path] of no) t.equal(matches(pattern, path), false, `${pattern} ${path}`);
  t.equal(parseGlob('{a,b}'.repeat(12)), null, 'too many alternatives');
  const started = systemClock.monotonic();
  matches(`${'*a'.repeat(200)}b`, 'a'.repeat(5000));
  matches(`${'**/a/'.repeat(50)}b`, 'a/'.repeat(500));
  t.ok(systemClock.monotonic() - started < 2000, 'no pattern takes for ever');
  t.end();
});

t.test('ignore files are read as git reads them', (t) => {
  const rules = {
    depth: 0,
    outer: null,
    rules: parseIgnore('# c\n\n*.log\n!keep.log\n/top\nfolder/\na/**/z\nsp\\ ace \ndocs/**\n'),
  };
  const ignored = (path: string, isFolder = false): boolean => isIgnored(rules, path.split('/'), isFolder);
  for (const path of ['x.log', 'd/x.log', 'top', 'a/z', 'a/b/c/z', 'sp ace', 'docs/x'])
    t.equal(ignored(path), true, path);
  for (const path of ['keep.log', 'd/top', 'folder', 'b/a/z', 'docs', 'c'])
    t.equal(ignored(path), false, path);
  t.equal(ignored('d/folder', true), true);
  const inner = { depth: 1, outer: rules, rules: parseIgnore('!x.log\n/only\n') };
  t.equal(isIgnored(inner, ['d', 'x.log'], false), false, 'the inner file wins');
  t.equal(isIgnored(inner, ['d', 'only'], false), true);
  t.equal(isIgnored(inner, ['d', 'y.log'], false), true);
  t.end();
});

const tree = {
  '.git': { config: 'needle' },
  '.gitignore': 'ignored\n*.log\n',
  ignored: { 'f.txt': 'needle' },
  'x.log': 'needle',
  node_modules: { m: { 'i.js': 'needle' } },
  src: {
    'a.ts': 'one\nNeedle two\nneedle needle\n',
    '.gitignore': '!x.log\n',
    'x.log': 'needle',
    deep: { 'b.js': 'needle\r\nend\r\n' },
  },
};

t.test('grep_files finds lines, in order, and passes over what is ignored', async (t) => {
  const tools = testTools(t, t.testdir(tree));
  writeFileSync(join(tools.root, 'binary'), Buffer.from('needle\0'));
  symlinkSync('.', join(tools.root, 'src', 'self'));
  symlinkSync('..', join(tools.root, 'src', 'up'));
  const plain = await tools.call('grep_files', { pattern: 'needle' });
  t.strictSame(lines(plain.content), ['src/a.ts:3', 'src/deep/b.js:1', 'src/x.log:1']);
  t.match(plain.content, { match_count: 3, files_with_matches: 3, truncated: false, skipped: { binary: 1 } });
  t.match((plain.content['matches'] as unknown[])[1], { text: 'needle' }, 'without the \\r');
  const any = await tools.call('grep_files', { pattern: '(?i)^needle t', path: 'src' });
  t.strictSame(lines(any.content), ['src/a.ts:2']);
  t.strictSame(
    lines((await tools.call('grep_files', { pattern: 'NEEDLE', ignore_case: true, glob: '*.js' })).content),
    ['src/deep/b.js:1'],
  );
  t.strictSame(lines((await tools.call('grep_files', { pattern: 'needle$', glob: 'src/**/*.ts' })).content), [
    'src/a.ts:3',
  ]);
  const all = await tools.call('grep_files', { pattern: 'needle', include_ignored: true, files_only: true });
  t.strictSame(all.content['files'], [
    'ignored/f.txt',
    'node_modules/m/i.js',
    'src/a.ts',
    'src/deep/b.js',
    'src/x.log',
    'x.log',
  ]);
  t.strictSame(lines((await tools.call('grep_files', { pattern: 'needle', path: 'node_modules' })).content), [
    'node_modules/m/i.js:1',
  ]);
  t.strictSame(
    lines((await tools.call('grep_files', { pattern: 'needle', path: 'x.log' })).content),
    ['x.log:1'],
    'a file that is named is searched',
  );
  t.match((await tools.call('grep_files', { pattern: '(' })).error, /no JavaScript regular expression/);
  t.equal((await tools.call('grep_files', { pattern: '\\-x' })).is_error, false, 'needless escapes are fine');
});

t.test('grep_files shows context, across the pieces a large file is read in', async (t) => {
  const tools = testTools(t, t.testdir());
  const filler = `${'f'.repeat(99)}\n`;
  const count = Math.floor((1024 * 1024) / 100);
  writeFileSync(
    join(tools.root, 'big'),
    `${filler.repeat(count - 1)}before\nhit\nafter\n${filler.repeat(count)}last hit`,
  );
  const { content } = await tools.call('grep_files', { pattern: 'hit', context: 1 });
  t.match(content['matches'], [
    { line: count + 1, before: ['before'], text: 'hit', after: ['after'] },
    { line: 2 * count + 3, before: ['f'.repeat(99)], text: 'last hit', after: [] },
  ]);
});

t.test('grep_files stops at its limits and says so', async (t) => {
  const tools = testTools(
    t,
    t.testdir({ f: 'needle\n'.repeat(5000), g: `${'é😀'.repeat(5000)}needle${'😀'.repeat(5000)}` }),
  );
  const few = await tools.call('grep_files', { pattern: 'needle', limit: 3, path: 'f' });
  t.match(few.content, { match_count: 5000, truncated: true, cut_by: 'limit' });
  t.equal(lines(few.content).length, 3);
  const many = await tools.call('grep_files', { pattern: 'needle', limit: 2000 });
  t.match(many.content, { truncated: true, cut_by: 'output' });
  t.ok(JSON.stringify(many.content).length <= tools.context.limits.tool_output_bytes);
  const long = await tools.call('grep_files', { pattern: 'needle', path: 'g' });
  const text = String((long.content['matches'] as JsonObject[])[0]?.['text']);
  t.match(text, /^….*needle.*…$/u, 'a long line is cut around the match');
  t.equal(text.isWellFormed(), true);
  t.notMatch(text, /\ufffd/);
});

t.test(
  'a pattern that backtracks for ever neither hangs the thread nor the search',
  { timeout: 30_000 },
  async (t) => {
    const bad = `${'a'.repeat(40)}b\n`;
    const tools = testTools(t, t.testdir({ one: `${bad}a needle\n`, many: bad.repeat(10) }));
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const some = await tools.call('grep_files', { pattern: '^(a+)+$|needle', path: 'one' });
    const all = await tools.call('grep_files', { pattern: '^(a+)+$', path: 'many' });
    delay.disable();
    t.match(some.content, { matches: [{ line: 2 }], note: /took too long on one:1/ });
    t.match(all.content, { code: 'slow_pattern', error: /backtracks too much \(many:1\)/ });
    t.ok(delay.max / 1e6 < 400, `the thread was free again within ${Math.round(delay.max / 1e6)} ms`);
  },
);

t.test('a search ends with its turn', async (t) => {
  let looks = 0;
  // The turn ends at the third look at the clock: the search is under way then.
  const monotonic = (): number => {
    looks += 1;
    if (looks === 3) tools.abort();
    return systemClock.monotonic();
  };
  const root = t.testdir({ f: `${'x'.repeat(200)}\n`.repeat(20_000) });
  const tools: TestTools = testTools(t, root, { context: { clock: { ...systemClock, monotonic } } });
  t.match((await tools.call('grep_files', { pattern: 'y+' })).error, /Interrupted/);
  t.match((await tools.call('grep_files', { pattern: 'x' })).error, /the turn is ending/);
});

t.test('glob_files finds files by name and by age', async (t) => {
  const tools = testTools(t, t.testdir(tree));
  const at = (path: string): string => join(tools.root, path);
  const files = async (params: JsonObject): Promise<unknown> =>
    (await tools.call('glob_files', params)).content['files'];
  t.strictSame(await files({ pattern: '**/*.{ts,js}' }), ['src/a.ts', 'src/deep/b.js']);
  t.strictSame(await files({ pattern: '*.ts' }), []);
  t.strictSame(
    await files({ pattern: '*.ts', path: 'src' }),
    ['src/a.ts'],
    'paths can be given to other tools as they are',
  );
  t.strictSame(await files({ pattern: 'src/deep/*' }), ['src/deep/b.js']);
  t.strictSame(await files({ pattern: 'src/*/' }), ['src/deep']);
  t.strictSame(await files({ pattern: at('src/*.ts') }), ['src/a.ts']);
  t.strictSame(await files({ pattern: '**/f.txt', include_ignored: true }), ['ignored/f.txt']);
  t.match((await tools.call('glob_files', { pattern: '**/f.txt' })).content, {
    files: [],
    note: /ignored entries were passed over/,
  });
  utimesSync(at('src/a.ts'), 1000, 1000);
  t.strictSame(await files({ pattern: 'src/**/*.{ts,js}', sort: 'modified' }), ['src/deep/b.js', 'src/a.ts']);
  t.match((await tools.call('glob_files', { pattern: '**/*', limit: 1 })).content, {
    truncated: true,
    count: 5,
  });
  t.match((await tools.call('glob_files', { pattern: 'nowhere/*.ts' })).error, /nowhere does not exist/);
});

t.test(
  'a walk is bounded in entries and time, and leaves the thread free',
  { timeout: 60_000 },
  async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'turnd-walk-'));
    t.teardown(() => rmSync(root, { recursive: true, force: true }));
    for (let folder = 0; folder < 10; folder += 1) {
      mkdirSync(join(root, `d${folder}`));
      for (let file = 0; file < 1200; file += 1) symlinkSync('x', join(root, `d${folder}`, `f${file}`));
    }
    const options = {
      clock: systemClock,
      signal: new AbortController().signal,
      timeMs: 60_000,
      entriesMax: 10_000,
      includeIgnored: false,
    };
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const report = newReport();
    let seen = 0;
    for await (const _entry of walkFiles(root, options, report)) seen += 1;
    delay.disable();
    t.equal(report.cut, 'entries');
    t.equal(seen, 10_000);
    t.ok(delay.max / 1e6 < 400, `the thread was free again within ${Math.round(delay.max / 1e6)} ms`);
    const late = newReport();
    for await (const _entry of walkFiles(root, { ...options, timeMs: 0 }, late)) seen += 1;
    t.equal(late.cut, 'time');
  },
);
