// write_file and edit_file on real files: what changes, what must not, and what is refused.
import {
  chmodSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { testTools } from '../fakes/tool-context.js';

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf]);

t.test('write_file makes and replaces files, with their folders, mode and links', async (t) => {
  const tools = testTools(t, t.testdir({ old: 'before', target: 'x' }));
  const at = (name: string): string => join(tools.root, name);
  const made = await tools.call('write_file', { path: 'a/b/new.txt', content: 'hé\r\n' });
  t.strictSame(made.content, { path: 'a/b/new.txt', bytes: 5, created: true });
  t.equal(readFileSync(at('a/b/new.txt'), 'utf8'), 'hé\r\n');
  t.equal(statSync(at('a/b/new.txt')).mode & 0o777, 0o644 & ~process.umask());
  chmodSync(at('old'), 0o700);
  t.match((await tools.call('write_file', { path: 'old', content: '' })).content, {
    created: false,
    bytes_before: 6,
  });
  t.equal(statSync(at('old')).mode & 0o777, 0o700);
  symlinkSync('target', at('link'));
  symlinkSync('missing', at('dangling'));
  t.equal((await tools.call('write_file', { path: 'link', content: 'through' })).is_error, false);
  t.equal((await tools.call('write_file', { path: 'dangling', content: 'made' })).is_error, false);
  t.equal(readlinkSync(at('link')), 'target');
  t.equal(readFileSync(at('target'), 'utf8'), 'through');
  t.equal(readlinkSync(at('dangling')), 'missing');
  t.equal(readFileSync(at('missing'), 'utf8'), 'made');
  t.equal((await tools.call('write_file', { path: at('old'), content: 'absolute' })).is_error, false);
  t.equal(
    readdirSync(tools.root).some((name) => name.endsWith('.tmp')),
    false,
    'nothing is left behind',
  );
});

t.test('a folder that cannot be made is an error, at once', async (t) => {
  const tools = testTools(t, t.testdir({ file: 'x', loop: t.fixture('symlink', 'nowhere/at/all') }));
  // A file system that answers "no such file" to every new name.
  const path = `/proc/${process.pid}/a/b/c`;
  t.match((await tools.call('write_file', { path, content: '' })).error, /The folder of .* does not exist/);
  t.match((await tools.call('write_file', { path: 'file/a/b', content: '' })).is_error, true);
  t.equal((await tools.call('write_file', { path: 'loop/a', content: 'x' })).is_error, false);
});

t.test('write_file refuses what is no regular file, what is too large and what must be new', async (t) => {
  const tools = testTools(t, t.testdir({ folder: {}, old: 'before' }), { limits: { file_bytes: 10 } });
  t.match((await tools.call('write_file', { path: 'folder', content: '' })).error, /is a folder/);
  t.match((await tools.call('write_file', { path: 'new/', content: '' })).error, /names a folder/);
  t.match((await tools.call('write_file', { path: '/dev/null', content: '' })).error, /device/);
  t.match(
    (await tools.call('write_file', { path: 'big', content: 'x'.repeat(11) })).error,
    /11 bytes; a file may have 10/,
  );
  t.match(
    (await tools.call('write_file', { path: 'old', content: 'x', overwrite: false })).error,
    /exists already/,
  );
  t.match(
    (await tools.call('write_file', { path: 'no/x', content: 'x', create_parents: false })).error,
    /does not exist/,
  );
  t.match((await tools.call('write_file', { path: 'old/x', content: 'x' })).error, /old\/x/);
  t.equal(readFileSync(join(tools.root, 'old'), 'utf8'), 'before');
});

t.test('an edit leaves every other byte as it is', async (t) => {
  const tools = testTools(t, t.testdir());
  const at = (name: string): string => join(tools.root, name);
  const broken = Buffer.concat([
    Buffer.from('a\n'),
    Buffer.from([0xff, 0xfe, 0x80]),
    Buffer.from('\nold ü\nzäöüß'),
  ]);
  const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('x\r\nold ü\r\n', 'utf16le')]);
  const cases: [name: string, before: Buffer, after: Buffer][] = [
    ['crlf', Buffer.from('a\r\nold ü\r\nz\r\n'), Buffer.from('a\r\nnew\r\nline\r\nz\r\n')],
    ['lf', Buffer.from('a\nold ü\nz'), Buffer.from('a\nnew\nline\nz')],
    ['mixed', Buffer.from('a\r\nb\nold ü\nz\r\n'), Buffer.from('a\r\nb\nnew\r\nline\nz\r\n')],
    [
      'bom',
      Buffer.concat([UTF8_BOM, Buffer.from('old ü')]),
      Buffer.concat([UTF8_BOM, Buffer.from('new\nline')]),
    ],
    [
      'latin1',
      Buffer.from('\xe4\r\nold \xfc\r\n', 'latin1'),
      Buffer.from('\xe4\r\nnew\r\nline\r\n', 'latin1'),
    ],
    ['broken', broken, Buffer.concat([broken.subarray(0, 6), Buffer.from('new\nline\nzäöüß')])],
    ['utf16', wide, Buffer.concat([wide.subarray(0, 8), Buffer.from('new\r\nline\r\n', 'utf16le')])],
  ];
  for (const [name, before, after] of cases) {
    writeFileSync(at(name), before);
    const edit = await tools.call('edit_file', { path: name, old_text: 'old ü', new_text: 'new\nline' });
    t.match(edit.content, { replacements: 1 }, name);
    t.strictSame(readFileSync(at(name)), after, name);
  }
  const back = await tools.call('edit_file', {
    path: 'crlf',
    old_text: 'a\nnew\nline\nz\n',
    new_text: 'b\n',
  });
  t.equal(back.is_error, false, 'text with \\n is found in a file with \\r\\n');
  t.equal(readFileSync(at('crlf'), 'utf8'), 'b\r\n');
  writeFileSync(at('ends'), 'a\r\nb\r\n');
  await tools.call('edit_file', { path: 'ends', old_text: 'a\r\nb', new_text: 'a\nb' });
  t.equal(readFileSync(at('ends'), 'utf8'), 'a\r\nb\r\n', 'line ends stay unless they are what is edited');
  writeFileSync(at('signs'), Buffer.from('\xe4 b', 'latin1'));
  t.match(
    (await tools.call('edit_file', { path: 'signs', old_text: 'b', new_text: '→' })).error,
    /latin1, which has no sign/,
  );
});

t.test('an edit keeps mode, symbolic link and hard link', async (t) => {
  const tools = testTools(t, t.testdir({ private: 'old', program: 'old', first: 'old', real: 'old' }));
  const at = (name: string): string => join(tools.root, name);
  chmodSync(at('private'), 0o600);
  chmodSync(at('program'), 0o755);
  linkSync(at('first'), at('second'));
  symlinkSync('real', at('link'));
  for (const path of ['private', 'program', 'second', 'link'])
    t.equal(
      (await tools.call('edit_file', { path, old_text: 'old', new_text: 'newer' })).is_error,
      false,
      path,
    );
  t.equal(statSync(at('private')).mode & 0o777, 0o600);
  t.equal(statSync(at('program')).mode & 0o777, 0o755);
  t.equal(statSync(at('first')).ino, statSync(at('second')).ino);
  t.equal(readFileSync(at('first'), 'utf8'), 'newer');
  t.equal(lstatSync(at('link')).isSymbolicLink(), true);
  t.equal(readFileSync(at('real'), 'utf8'), 'newer');
  await tools.call('edit_file', { path: 'second', old_text: 'newer', new_text: 'n' });
  t.equal(readFileSync(at('first'), 'utf8'), 'n', 'a shorter text leaves no rest');
});

t.test(
  'a text that stands in several places is an error with their lines, unless all are meant',
  async (t) => {
    const tools = testTools(t, t.testdir({ f: 'x\ny\nx\naaa\n' }));
    const two = await tools.call('edit_file', { path: 'f', old_text: 'x', new_text: 'z' });
    t.match(two.content, { code: 'several_matches', lines: [1, 3], error: /2 times.*lines 1, 3/ });
    t.match(
      (await tools.call('edit_file', { path: 'f', old_text: 'aa', new_text: 'b' })).error,
      /2 times/,
      'overlaps count',
    );
    const other = await tools.call('edit_file', {
      path: 'f',
      old_text: 'x',
      new_text: 'z',
      replace_all: true,
      expected_count: 3,
    });
    t.match(other.error, /2 times in f, not 3/);
    t.equal(readFileSync(join(tools.root, 'f'), 'utf8'), 'x\ny\nx\naaa\n');
    const all = await tools.call('edit_file', {
      path: 'f',
      old_text: 'x',
      new_text: 'z',
      replace_all: true,
      expected_count: 2,
    });
    t.match(all.content, { replacements: 2, lines: [1, 3] });
    t.equal(readFileSync(join(tools.root, 'f'), 'utf8'), 'z\ny\nz\naaa\n');
  },
);

t.test('a text that is not there is an error that names what comes nearest', async (t) => {
  const body = 'function one() {\n\tif (a) {\n\t\treturn “b”;\n\t}\n}\n';
  const tools = testTools(t, t.testdir({ f: body }));
  const hints: [old: string, hint: RegExp][] = [
    ['\tif (a) { \n\t\treturn “b”;', /line 2 differs in white space at the ends/],
    ['    if (a) {\n        return “b”;', /line 2 differs in the indentation/],
    ['if  (a)  {', /line 2 differs in the white space/],
    ['\t\treturn "b";', /line 3 differs in the form of quotes/],
    ['FUNCTION ONE() {', /line 1 differs in upper and lower case/],
    ['function one() {\\n\\tif (a) {', /without one level of escapes/],
    ['     1\tfunction one() {\n     2\t\tif (a) {', /without the line numbers/],
    ['function one() {\n\tif (b) {', /line 1, but on line 2 the file has "\\tif \(a\) \{"/],
    ['nothing like it', /"nothing like it" is not in the file/],
  ];
  for (const [old_text, hint] of hints) {
    const { error, is_error } = await tools.call('edit_file', { path: 'f', old_text, new_text: 'x' });
    t.equal(is_error, true);
    t.match(error, hint);
  }
  t.equal(readFileSync(join(tools.root, 'f'), 'utf8'), body);
});

t.test('an empty old_text fills what is empty and nothing else', async (t) => {
  const tools = testTools(t, t.testdir({ empty: '', full: 'x' }));
  t.match((await tools.call('edit_file', { path: 'new/f', old_text: '', new_text: 'a' })).content, {
    created: true,
  });
  t.equal((await tools.call('edit_file', { path: 'empty', old_text: '', new_text: 'b' })).is_error, false);
  t.match(
    (await tools.call('edit_file', { path: 'full', old_text: '', new_text: 'c' })).error,
    /old_text is empty/,
  );
  t.match((await tools.call('edit_file', { path: 'full', old_text: 'x', new_text: 'x' })).error, /the same/);
  t.strictSame(
    ['new/f', 'empty', 'full'].map((name) => readFileSync(join(tools.root, name), 'utf8')),
    ['a', 'b', 'x'],
  );
});

t.test('binary files and files that are too large are not edited', async (t) => {
  const tools = testTools(t, t.testdir({ big: 'x'.repeat(200) }), { limits: { file_bytes: 100 } });
  writeFileSync(join(tools.root, 'binary'), Buffer.from([1, 2, 0, 3]));
  t.match(
    (await tools.call('edit_file', { path: 'binary', old_text: '\u0001', new_text: 'x' })).error,
    /binary/,
  );
  t.match(
    (await tools.call('edit_file', { path: 'big', old_text: 'x', new_text: 'y' })).error,
    /at most 100/,
  );
});
