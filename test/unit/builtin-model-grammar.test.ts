// What the built-in model understands: every documented form and example, wording met half-way, and what it must leave.
import t from 'tap';
import type { Command } from '../../worker/models/builtin/command.js';
import { GRAMMAR, SEQUENCE_EXAMPLE } from '../../worker/models/builtin/grammar.js';
import { parseRequest } from '../../worker/models/builtin/parse.js';

const here: Command = { kind: 'summarise', path: '.', expect: 'folder' };
const summary = (path: string, expect: 'folder' | 'file' | null = null): Command => ({
  kind: 'summarise',
  path,
  expect,
});
const list = (path: string, deep = false): Command => ({ kind: 'list', path, deep });
const read = (...paths: string[]): Command => ({ kind: 'read', paths, range: null });
const lines = (path: string, from: number, to: number | null): Command => ({
  kind: 'read',
  paths: [path],
  range: { kind: 'between', from, to },
});
const last = (path: string, count: number): Command => ({
  kind: 'read',
  paths: [path],
  range: { kind: 'last', count },
});
const search = (text: string, path = '.', more: { regex?: boolean; ignoreCase?: boolean } = {}): Command => ({
  kind: 'search',
  text,
  regex: more.regex ?? false,
  ignoreCase: more.ignoreCase ?? false,
  path,
});
const find = (glob: string, path = '.'): Command => ({ kind: 'find', glob, path });
const run = (command: string, folder: string | null = null): Command => ({ kind: 'run', command, folder });
const write = (path: string, content: string | null): Command => ({ kind: 'write', path, content });
const get = (url: string): Command => ({ kind: 'fetch', url });
const help: Command = { kind: 'help' };

/** Every example of the grammar stands here with its meaning; a test sees to that. */
const DOCUMENTED: readonly (readonly [string, ...Command[]])[] = [
  ['Summarise this folder', here],
  ['summarize README.md', summary('README.md')],
  ['what is in src?', summary('src')],
  ['list src', list('src')],
  ['show me the files', list('.')],
  ['list src recursively', list('src', true)],
  ['read package.json', read('package.json')],
  ['read package.json lines 1-40', lines('package.json', 1, 40)],
  ['show the last 20 lines of build.log', last('build.log', 20)],
  ['search for TODO in src', search('TODO', 'src')],
  ['search for "open file" ignoring case', search('open file', '.', { ignoreCase: true })],
  ['search for /fo+/ in src', search('fo+', 'src', { regex: true })],
  ['find files *.ts in src', find('*.ts', 'src')],
  ['find **/*.md', find('**/*.md')],
  ['run npm test', run('npm test')],
  ['run: `ls -l`', run('ls -l')],
  ['run `make all` in src', run('make all', 'src')],
  ['write hello to notes.txt', write('notes.txt', 'hello')],
  ['create notes.txt with "first line"', write('notes.txt', 'first line')],
  ['fetch http://example.com/', get('http://example.com/')],
  ['help', help],
  ['what can you do?', help],
  [SEQUENCE_EXAMPLE, run('npm test'), write('test.log', null)],
];

const WORDINGS: readonly (readonly [string, ...Command[]])[] = [
  ['summarise', here],
  ['Please summarise this project.', here],
  ['what is this project about?', here],
  ['What does this project do?', here],
  ["what's in the src folder", summary('src', 'folder')],
  ['give me a short summary of the src/ folder', summary('src/', 'folder')],
  ['summarise "my folder"', summary('my folder')],
  ['summarise the file notes', summary('notes', 'file')],
  ['ls -la', list('.')],
  ['could you please list the src folder for me?', list('src')],
  ['list files in src/lib', list('src/lib')],
  ['what files are in this folder?', list('.')],
  ['Could you please show me the src folder?', list('src')],
  ['show the folder "my pictures"', list('my pictures')],
  ['list ..', list('..')],
  ['read lines 10 to 20 of src/a.ts', lines('src/a.ts', 10, 20)],
  ['read src/a.ts from line 5', lines('src/a.ts', 5, null)],
  ['read line 3 of a.txt', lines('a.txt', 3, 3)],
  ['read the first 5 lines of a.txt', lines('a.txt', 1, 5)],
  ['read a.txt, b.txt and c.txt', read('a.txt', 'b.txt', 'c.txt')],
  ['cat "my notes.txt"', read('my notes.txt')],
  ['read 文書/説明.md', read('文書/説明.md')],
  ['read the file README.md.', read('README.md')],
  ['grep "a in b" in src', search('a in b', 'src')],
  ['where is parseRequest used?', search('parseRequest')],
  ['find foo in src', search('foo', 'src')],
  ['search for /^t.*e$/ in src', search('^t.*e$', 'src', { regex: true })],
  ['search for a*b', search('a*b')],
  ['search for files named a.txt', find('a.txt')],
  ['list *.md', find('*.md')],
  ['find files named package.json', find('package.json')],
  ['find all files matching *.py under lib', find('*.py', 'lib')],
  ['run if true; then echo a; fi', run('if true; then echo a; fi')],
  ['run echo "hello world" and then echo again', run('echo "hello world" and then echo again')],
  ['run ls .', run('ls .')],
  ['$ git status', run('git status')],
  ['run\n```sh\ncd src\nmake\n```', run('cd src\nmake')],
  ['write "hello world" to src/notes.txt', write('src/notes.txt', 'hello world')],
  ['write hello to notes.txt in src', write('src/notes.txt', 'hello')],
  ['write to notes.txt: one two', write('notes.txt', 'one two')],
  ['write to notes.txt:\nread this\nlist that', write('notes.txt', 'read this\nlist that')],
  ['write\n```\na\n\nb\n```\nto x.txt', write('x.txt', 'a\n\nb')],
  ['create an empty file a/b.txt', write('a/b.txt', '')],
  ['https://example.com/x?y=1', get('https://example.com/x?y=1')],
  ['read https://example.com.', get('https://example.com')],
  ['list src; then read package.json', list('src'), read('package.json')],
  ['read a.txt and list src', read('a.txt'), list('src')],
  ['- list src\n- read a.txt\n\n1. run ls', list('src'), read('a.txt'), run('ls')],
  [
    'First list src, then read README.md. Finally run npm test',
    list('src'),
    read('README.md'),
    run('npm test'),
  ],
];

/** Requests for a mind: they must not be taken for something else. */
const BEYOND = [
  'fix the bug in main.ts',
  'hello',
  'write me a haiku',
  'write a poem about the sea to poem.txt',
  'write the tests for src/a.ts into test/a.test.ts',
  'what is the capital of France?',
  'explain how the parser works',
  'read the mind of the reader',
  'list the reasons why this fails',
  'Fasse diesen Ordner zusammen',
  'delete everything',
];

t.test('every example of the grammar means what its row says', async (t) => {
  const meant = new Map(DOCUMENTED.map(([text, ...commands]) => [text, commands]));
  for (const row of GRAMMAR)
    for (const example of row.examples) {
      t.same(parseRequest(example), meant.get(example), example);
      t.equal(parseRequest(example)[0]?.kind, row.kind, `${example} is a ${row.kind}`);
    }
  t.same(parseRequest(SEQUENCE_EXAMPLE), meant.get(SEQUENCE_EXAMPLE), SEQUENCE_EXAMPLE);
});

t.test('wording is met half-way', async (t) => {
  for (const [text, ...commands] of WORDINGS) t.same(parseRequest(text), commands, text);
});

t.test('what needs a mind is left alone', async (t) => {
  for (const text of BEYOND) t.same(parseRequest(text), [{ kind: 'unknown', text }], text);
});

t.test('long and hostile messages are read in one pass, not for ever', async (t) => {
  const hostile = [
    'a in '.repeat(200_000),
    `search for ${'x in '.repeat(380)}`,
    'list and '.repeat(100_000),
    `write ${'x to '.repeat(100_000)}`,
    ' \n'.repeat(100_000),
    `read ${', '.repeat(900)}`,
    `\`'"`.repeat(100_000),
    `summarise ${'the '.repeat(490)}`,
    '“'.repeat(300_000),
    '«'.repeat(300_000),
    `write a${' '.repeat(300_000)}b to c`,
    `list${' '.repeat(300_000)}src`,
    `run a${'\n'.repeat(300_000)}b`,
    `hello${' ,'.repeat(300_000)}x`,
    '\ud800 and then \udc00',
    '',
  ];
  for (const text of hostile) t.ok(parseRequest(text).length >= 1, text.slice(0, 20));
});

t.test('a message with very many steps is bounded', async (t) => {
  t.ok(parseRequest('list src\n'.repeat(500)).length <= 20);
});
