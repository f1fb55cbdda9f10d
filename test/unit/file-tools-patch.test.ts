// apply_patch: both forms, on real files; all of it or nothing.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { carryOut } from '../../worker/tools/patch/carry-out.js';
import type { PlannedFile } from '../../worker/tools/patch/plan-patch.js';
import { type Called, type TestTools, testTools } from '../fakes/tool-context.js';

const apply = (tools: TestTools, ...lines: string[]): Promise<Called> =>
  tools.call('apply_patch', { patch: `${lines.join('\n')}\n` });
const textOf = (tools: TestTools, name: string): string => readFileSync(join(tools.root, name), 'utf8');
const COUNT = 'one\ntwo\nthree\nfour\nfive\n';

t.test('a unified diff creates, changes, renames and deletes', async (t) => {
  const tools = testTools(t, t.testdir({ change: COUNT, 'old name': COUNT, gone: 'a\nb\n', grüß: 'x\n' }));
  chmodSync(join(tools.root, 'old name'), 0o755);
  const done = await apply(
    tools,
    'diff --git a/change b/change',
    'index 123..456 100644',
    '--- a/change',
    '+++ b/change',
    '@@ -1,3 +1,3 @@ some function',
    ' one',
    '-two',
    '+TWO',
    ' three',
    '@@ -5 +5,2 @@',
    ' five',
    '+six',
    'diff --git a/old name b/sub/new name',
    'similarity index 90%',
    'rename from old name',
    'rename to sub/new name',
    '--- a/old name\t',
    '+++ b/sub/new name\t',
    '@@ -4,2 +4,1 @@',
    ' four',
    '-five',
    '--- /dev/null',
    '+++ b/dir/created.sh',
    '@@ -0,0 +1,2 @@',
    '+#!/bin/sh',
    '+exit 0',
    '\\ No newline at end of file',
    'diff --git a/gone b/gone',
    'deleted file mode 100644',
    '--- a/gone',
    '+++ /dev/null',
    '@@ -1,2 +0,0 @@',
    '-a',
    '-b',
    'diff --git "a/gr\\303\\274\\303\\237" "b/gr\\303\\274\\303\\237"',
    '--- "a/gr\\303\\274\\303\\237"',
    '+++ "b/gr\\303\\274\\303\\237"',
    '@@ -1 +1 @@',
    '-x',
    '+y',
    '-- ',
    '2.39.1',
  );
  t.equal(done.is_error, false, done.error);
  t.match(done.content, {
    files: [
      { path: 'change', action: 'updated', added: 2, removed: 1 },
      { path: 'sub/new name', action: 'renamed', from: 'old name' },
      { path: 'dir/created.sh', action: 'created', added: 2 },
      { path: 'gone', action: 'deleted', removed: 2 },
      { path: 'grüß', action: 'updated' },
    ],
  });
  t.equal(textOf(tools, 'change'), 'one\nTWO\nthree\nfour\nfive\nsix\n');
  t.equal(textOf(tools, 'sub/new name'), 'one\ntwo\nthree\nfour\n');
  t.equal(statSync(join(tools.root, 'sub/new name')).mode & 0o777, 0o755);
  t.equal(textOf(tools, 'dir/created.sh'), '#!/bin/sh\nexit 0');
  t.equal(textOf(tools, 'grüß'), 'y\n');
  t.strictSame(readdirSync(tools.root).sort(), ['change', 'dir', 'grüß', 'sub']);
});

t.test('pure renames, empty files and modes come from the headers of git alone', async (t) => {
  const tools = testTools(t, t.testdir({ a: 'x', script: 's' }));
  const done = await apply(
    tools,
    'diff --git a/a b/b',
    'similarity index 100%',
    'rename from a',
    'rename to b',
    'diff --git a/empty b/empty',
    'new file mode 100644',
    'diff --git a/script b/script',
    'old mode 100644',
    'new mode 100755',
  );
  t.equal(done.is_error, false, done.error);
  t.equal(textOf(tools, 'b'), 'x');
  t.equal(textOf(tools, 'empty'), '');
  t.equal(statSync(join(tools.root, 'script')).mode & 0o777, 0o755);
  t.equal(existsSync(join(tools.root, 'a')), false);
});

t.test('the form with marks does the same, also in fences and with anchors', async (t) => {
  const tools = testTools(
    t,
    t.testdir({ code: 'class A\n  x = 1\nclass B\n  x = 1\nend\n', gone: 'x', moved: 'a\nb' }),
  );
  const done = await apply(
    tools,
    '```',
    '*** Begin Patch',
    '*** Update File: code',
    '@@ class B',
    '-  x = 1',
    '+  x = 2',
    '',
    '*** Add File: new/file',
    '+first',
    '+',
    '+third',
    '*** Delete File: gone',
    '*** Update File: moved',
    '*** Move to: there',
    '@@',
    ' a',
    '-b',
    '+c',
    '*** End of File',
    '*** End Patch',
    '```',
  );
  t.equal(done.is_error, false, done.error);
  t.equal(textOf(tools, 'code'), 'class A\n  x = 1\nclass B\n  x = 2\nend\n');
  t.equal(textOf(tools, 'new/file'), 'first\n\nthird\n');
  t.equal(textOf(tools, 'there'), 'a\nc', 'a file without a last line end stays so');
  t.strictSame(readdirSync(tools.root).sort(), ['code', 'new', 'there']);
});

t.test('wrong line numbers and counts do not matter where the place is clear', async (t) => {
  const tools = testTools(t, t.testdir({ f: COUNT, twice: 'a\nb\nx\na\nb\n' }));
  const done = await apply(
    tools,
    '--- a/f',
    '+++ b/f',
    '@@ -90,9 +90,1 @@',
    ' three',
    '-four',
    '+4',
    ' five',
  );
  t.match(done.content, { files: [{ moved_hunks: 1 }] });
  t.equal(textOf(tools, 'f'), 'one\ntwo\nthree\n4\nfive\n');
  const unclear = await apply(tools, '--- twice', '+++ twice', '@@ -9,2 +9,2 @@', ' a', '-b', '+c');
  t.match(unclear.content['rejections'], [{ hunk: 1, reason: /several places \(lines 1, 4\)/ }]);
  const second = await apply(tools, '--- twice', '+++ twice', '@@ -4,2 +4,2 @@', ' a', '-b', '+c');
  t.equal(second.is_error, false);
  t.equal(textOf(tools, 'twice'), 'a\nb\nx\na\nc\n');
});

t.test('line ends, byte order mark and the missing last line end stay', async (t) => {
  const tools = testTools(t, t.testdir());
  const at = (name: string): string => join(tools.root, name);
  writeFileSync(at('crlf'), '\ufeffone\r\ntwo\r\nthree');
  await apply(tools, '--- a/crlf', '+++ b/crlf', '@@ -1,3 +1,4 @@', ' one', '-two', '+2', '+2b', ' three');
  t.equal(textOf(tools, 'crlf'), '\ufeffone\r\n2\r\n2b\r\nthree');
  writeFileSync(at('open'), 'a\nb');
  await apply(tools, '--- a/open', '+++ b/open', '@@ -2 +2,2 @@', ' b', '+c');
  t.equal(textOf(tools, 'open'), 'a\nb\nc');
  const closed = await apply(
    tools,
    '--- a/open',
    '+++ b/open',
    '@@ -3 +3 @@',
    '-c',
    '\\ No newline at end of file',
    '+c',
  );
  t.equal(closed.is_error, false);
  t.equal(textOf(tools, 'open'), 'a\nb\nc\n');
  await tools.call('apply_patch', { patch: '--- a/open\r\n+++ b/open\r\n@@ -1 +1 @@\r\n-a\r\n+A\r\n' });
  t.equal(textOf(tools, 'open'), 'A\nb\nc\n', 'the line ends of the patch itself do not count');
});

t.test('one part that does not apply means that nothing is written', async (t) => {
  const tools = testTools(t, t.testdir({ good: COUNT, bad: COUNT }));
  const refused = await apply(
    tools,
    '*** Begin Patch',
    '*** Update File: good',
    '@@',
    '-one',
    '+1',
    '*** Add File: fresh',
    '+x',
    '*** Update File: bad',
    '@@',
    '-two',
    '+2',
    '@@',
    ' threE',
    '-four',
    '+4',
    '*** Update File: nowhere',
    '@@',
    '-a',
    '+b',
    '*** End Patch',
  );
  t.match(refused.error, /2 part\(s\) of the patch do not apply, so nothing was written/);
  t.match(refused.content['rejections'], [
    { path: 'bad', hunk: 2, reason: /line 3 differs in upper and lower case: the file has "three"/ },
    { path: 'nowhere', reason: /does not exist/ },
  ]);
  t.equal(textOf(tools, 'good'), COUNT);
  t.equal(textOf(tools, 'bad'), COUNT);
  t.strictSame(readdirSync(tools.root).sort(), ['bad', 'good']);
});

t.test('a file that refuses to be written takes the others back with it', async (t) => {
  const root = t.testdir({ a: 'a1', b: 'b1', gone: 'g1' });
  const planned = (name: string, before: string | null, after: string | null): PlannedFile => ({
    real: join(root, name),
    shown: name,
    before: before === null ? null : Buffer.from(before),
    after: after === null ? null : Buffer.from(after),
    mode: null,
    modeBefore: 0o644,
  });
  const files = [planned('a', 'a1', 'a2'), planned('new', null, 'n'), planned('b', 'b1', 'b2')];
  writeFileSync(join(root, 'b'), 'somebody else');
  await t.rejects(carryOut(files), { message: /b was changed by somebody else/ });
  // This one only fails at its very end: a folder cannot be unlinked, and that comes after all writes.
  mkdirSync(join(root, 'folder'));
  const sneaky = {
    ...planned('gone', 'g1', null),
    get real(): string {
      looks += 1;
      return join(root, looks > 2 ? 'folder' : 'gone');
    },
  };
  let looks = 0;
  await t.rejects(carryOut([planned('a', 'a1', 'a2'), planned('new', null, 'n'), sneaky]));
  t.strictSame(readdirSync(root).sort(), ['a', 'b', 'folder', 'gone']);
  t.equal(readFileSync(join(root, 'a'), 'utf8'), 'a1');
});

t.test('what a patch may not do is said in a sentence', async (t) => {
  const tools = testTools(t, t.testdir({ f: 'a\n', link: t.fixture('symlink', 'f'), folder: {} }));
  writeFileSync(join(tools.root, 'binary'), Buffer.from([0, 1, 2]));
  symlinkSync('nowhere', join(tools.root, 'dangling'));
  const marked = (...lines: string[]): Promise<Called> =>
    apply(tools, '*** Begin Patch', ...lines, '*** End Patch');
  const rejected: [Promise<Called>, RegExp][] = [
    [marked('*** Add File: f', '+x'), /f exists already/],
    [marked('*** Delete File: link'), /symbolic link/],
    [marked('*** Delete File: folder'), /folder/],
    [marked('*** Update File: f', '*** Move to: binary', '@@', '-a', '+b'), /binary exists already/],
    [marked('*** Update File: binary', '@@', '-a', '+b'), /binary, not text/],
    [
      marked('*** Delete File: f', '*** Update File: f', '@@', '-a', '+b'),
      /deleted or renamed by an earlier part/,
    ],
    [apply(tools, '--- a/f', '+++ /dev/null', '@@ -1 +0,0 @@', '-b'), /not in the file/],
  ];
  for (const [call, sentence] of rejected) {
    const { content, is_error } = await call;
    t.equal(is_error, true);
    t.match(JSON.stringify(content['rejections']), sentence);
  }
  const refused: [Promise<Called>, RegExp][] = [
    [apply(tools, 'just words'), /no change in this patch/],
    [apply(tools, '*** Begin Patch', '*** Add File: x', '+y'), /no \*\*\* End Patch; it may have been cut/],
    [marked('*** Add File: x', 'y'), /begins with \+/],
    [marked('*** Update File: f', '@@', ' a'), /neither - nor \+/],
    [apply(tools, '@@ -1 +1 @@', '-a', '+b'), /of which file/],
    [apply(tools, 'diff --git a/f b/f', 'new file mode 120000'), /symbolic link/],
    [apply(tools, 'diff --git a/f b/f', 'GIT binary patch'), /binary/],
  ];
  for (const [call, sentence] of refused) t.match((await call).error, sentence);
  t.equal(textOf(tools, 'f'), 'a\n');
  t.equal((await marked('*** Update File: link', '@@', '-a', '+b')).is_error, false, 'a link is followed');
  t.equal(textOf(tools, 'f'), 'b\n');
});
