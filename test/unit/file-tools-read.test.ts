// read_file and list_dir on real files of every kind.
import { execFileSync } from 'node:child_process';
import { mkdirSync, openSync, symlinkSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { scratch } from '../fakes/job.js';
import { testTools } from '../fakes/tool-context.js';

const TEXT = 'Grüße\nzweite Zeile 😀\n';
const bom = (bytes: number[], text: Buffer): Buffer => Buffer.concat([Buffer.from(bytes), text]);

t.test('text in each encoding is read as the same text', async (t) => {
  const tools = testTools(t, t.testdir());
  const utf16be = Buffer.from(TEXT, 'utf16le').swap16();
  const files: [name: string, bytes: Buffer, encoding: string, marked: boolean][] = [
    ['utf8', Buffer.from(TEXT), 'utf-8', false],
    ['utf8-bom', bom([0xef, 0xbb, 0xbf], Buffer.from(TEXT)), 'utf-8', true],
    ['utf16le', bom([0xff, 0xfe], Buffer.from(TEXT, 'utf16le')), 'utf-16le', true],
    ['utf16be', bom([0xfe, 0xff], utf16be), 'utf-16be', true],
  ];
  for (const [name, bytes, encoding, marked] of files) {
    writeFileSync(join(tools.root, name), bytes);
    const { content, is_error } = await tools.call('read_file', { path: name });
    t.equal(is_error, false);
    t.match(
      content,
      { content: TEXT.trimEnd(), total_lines: 2, encoding, bytes: bytes.length, truncated: false },
      name,
    );
    t.equal(content['bom'] === true, marked, name);
  }
  writeFileSync(join(tools.root, 'latin1'), Buffer.from('Grüße\r\nzwei\r\n', 'latin1'));
  const latin = await tools.call('read_file', { path: 'latin1' });
  t.match(latin.content, { content: 'Grüße\nzwei', encoding: 'latin1', line_ends: 'crlf', total_lines: 2 });
});

t.test('lines are read from the front and from the back, and numbered when asked', async (t) => {
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`);
  const tools = testTools(
    t,
    t.testdir({ closed: `${lines.join('\n')}\n`, open: lines.join('\n'), empty: '' }),
  );
  for (const path of ['closed', 'open']) {
    const middle = await tools.call('read_file', { path, start_line: 10, end_line: 12 });
    t.match(middle.content, {
      content: 'line 10\nline 11\nline 12',
      start_line: 10,
      end_line: 12,
      total_lines: 50,
    });
    const last = await tools.call('read_file', { path, start_line: -2, line_numbers: true });
    t.match(last.content, { content: '    49\tline 49\n    50\tline 50', start_line: 49, end_line: 50 });
    const all = await tools.call('read_file', { path, start_line: -500 });
    t.match(all.content, { content: lines.join('\n'), start_line: 1 });
    const behind = await tools.call('read_file', { path, start_line: 51 });
    t.match(behind.content, { content: '', total_lines: 50, note: /no line 51: the file has 50 lines/ });
  }
  const empty = await tools.call('read_file', { path: 'empty' });
  t.match(empty.content, { content: '', total_lines: 0, bytes: 0, truncated: false });
  for (const params of [
    { start_line: 0 },
    { start_line: 5, end_line: 4 },
    { start_line: -1, end_line: 4 },
    { start_line: 1, byte_offset: 1 },
  ])
    t.equal((await tools.call('read_file', { path: 'open', ...params })).is_error, true);
});

t.test('what does not fit is told, and reading on gives every line once', async (t) => {
  const lines = Array.from({ length: 3000 }, (_, index) => `"quoted" ${index}`);
  const tools = testTools(t, t.testdir({ big: lines.join('\n') }));
  const seen: string[] = [];
  let start = 1;
  for (let rounds = 0; start <= 3000 && rounds < 50; rounds += 1) {
    const { content } = await tools.call('read_file', { path: 'big', start_line: start });
    t.ok(
      JSON.stringify(content).length <= tools.context.limits.tool_output_bytes,
      'the result is within the limit',
    );
    seen.push(...String(content['content']).split('\n'));
    t.equal(content['truncated'], Number(content['end_line']) < 3000);
    start = Number(content['end_line']) + 1;
  }
  t.strictSame(seen, lines);
});

t.test('a huge line is cut between characters, and its bytes read on to the end', async (t) => {
  const tools = testTools(t, t.testdir());
  const long = `${'x'.repeat(1999)}${'😀é'.repeat(5000)}`;
  writeFileSync(join(tools.root, 'long'), `first\n${long}\nlast`);
  const { content } = await tools.call('read_file', { path: 'long' });
  const shown = String(content['content']);
  t.equal(shown.isWellFormed(), true);
  t.notMatch(shown, /\ufffd/);
  t.match(shown, /^first\nx{1999} \[… \d+ more bytes in this line: byte_offset \d+ reads on\]\nlast$/);
  t.equal(content['truncated'], true);
  let offset: number | null = Number(/byte_offset (\d+)/.exec(shown)?.[1]);
  let rest = '';
  for (let rounds = 0; offset !== null && rounds < 50; rounds += 1) {
    const part = await tools.call('read_file', { path: 'long', byte_offset: offset });
    t.ok(JSON.stringify(part.content).length <= 8192);
    rest += String(part.content['content']);
    offset = part.content['next_byte_offset'] as number | null;
  }
  t.equal(`${'x'.repeat(1999)}${rest}`, `${long}\nlast`);
  const inside = await tools.call('read_file', { path: 'long', byte_offset: 6 + 1999 + 2, byte_length: 9 });
  t.equal(inside.content['content'], 'é😀', 'half characters at both ends are left to the ranges beside it');
});

t.test('a range of UTF-16 is cut between characters too', async (t) => {
  const tools = testTools(t, t.testdir());
  const text = '😀é'.repeat(300);
  writeFileSync(join(tools.root, 'wide'), bom([0xff, 0xfe], Buffer.from(text, 'utf16le')));
  let all = '';
  let offset: number | null = 0;
  for (let rounds = 0; offset !== null && rounds < 200; rounds += 1) {
    const { content } = await tools.call('read_file', { path: 'wide', byte_offset: offset, byte_length: 17 });
    all += String(content['content']);
    offset = content['next_byte_offset'] as number | null;
  }
  t.equal(all, text);
});

t.test('binary files and pictures are described, not shown', async (t) => {
  const png = Buffer.alloc(64);
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').copy(png);
  png.writeUInt32BE(640, 16);
  png.writeUInt32BE(480, 20);
  const gif = Buffer.from('GIF89a\x10\x00\x20\x00\x00\x00', 'latin1');
  const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0001108007800a003012200021101', 'hex');
  const tools = testTools(t, t.testdir());
  for (const [name, bytes] of Object.entries({
    png,
    gif,
    jpeg,
    zeros: Buffer.alloc(10),
    pdf: Buffer.from('%PDF-1.7\nx'),
  }))
    writeFileSync(join(tools.root, name), bytes);
  const kinds: [string, object][] = [
    ['png', { mime: 'image/png', width: 640, height: 480, bytes: 64, note: /640 x 480 pixels/ }],
    ['gif', { mime: 'image/gif', width: 16, height: 32 }],
    ['jpeg', { mime: 'image/jpeg', width: 160, height: 120 }],
    ['zeros', { mime: 'application/octet-stream', bytes: 10 }],
    ['pdf', { mime: 'application/pdf' }],
  ];
  for (const [path, expected] of kinds) {
    const { content, is_error } = await tools.call('read_file', { path });
    t.equal(is_error, false);
    t.match(content, { binary: true, ...expected }, path);
    t.notHas(content, { content: /./ });
  }
});

t.test('what a file is comes from its content, never from its name', async (t) => {
  const tools = testTools(
    t,
    t.testdir({ 'fake.png': '<html>404</html>', 'empty.jpg': '', 'a.svg': '<svg/>' }),
  );
  const headOnly = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(200)]);
  writeFileSync(join(tools.root, 'text.txt'), headOnly);
  for (const [path, content] of Object.entries({
    'fake.png': '<html>404</html>',
    'empty.jpg': '',
    'a.svg': '<svg/>',
  }))
    t.match((await tools.call('read_file', { path })).content, {
      content,
      encoding: 'utf-8',
      binary: undefined,
    });
  const broken = await tools.call('read_file', { path: 'text.txt' });
  t.match(broken.content, { binary: true, mime: 'image/png', bytes: 208 });
  t.notHas(broken.content, { content: /./ });
});

t.test('what is no regular file is refused at once', { timeout: 20_000 }, async (t) => {
  // Not below the checkout: the path of a socket has about a hundred bytes.
  const tools = testTools(t, scratch(t));
  mkdirSync(join(tools.root, 'folder'));
  execFileSync('mkfifo', [join(tools.root, 'fifo')]);
  symlinkSync('fifo', join(tools.root, 'to-fifo'));
  symlinkSync('b', join(tools.root, 'a'));
  symlinkSync('a', join(tools.root, 'b'));
  const server = createServer().listen(join(tools.root, 's'));
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  const refusals: [string, RegExp][] = [
    ['fifo', /named pipe/],
    ['to-fifo', /named pipe/],
    ['s', /socket/],
    ['folder', /folder; list_dir/],
    ['/dev/zero', /device/],
    ['/dev/urandom', /device/],
    ['a', /circle/],
    ['missing/x', /does not exist/],
    ['', /empty/],
    ['a\0b', /NUL/],
    ['~/x', /~ is not expanded/],
    ['x'.repeat(300), /too long/],
    [`${'y/'.repeat(2047)}x`, /too long|does not exist/],
    ['\ud83d', /half a character/],
  ];
  for (const [path, sentence] of refusals) {
    const { is_error, error } = await tools.call('read_file', { path });
    t.equal(is_error, true, path.slice(0, 20));
    t.match(error, sentence);
  }
});

t.test('kernel files, whose size is not told, are read', async (t) => {
  const tools = testTools(t, t.testdir());
  const { content, is_error } = await tools.call('read_file', { path: '/proc/self/status', end_line: 1 });
  t.equal(is_error, false);
  t.match(content, { content: /^Name:/, start_line: 1, end_line: 1 });
});

t.test('a sparse file of 10 GB is read in ranges, from both ends, in flat memory', async (t) => {
  const tools = testTools(t, t.testdir());
  const path = join(tools.root, 'sparse');
  writeFileSync(path, `head\n${'text\n'.repeat(100_000)}`);
  truncateSync(path, 10 * 1024 ** 3);
  const end = '\nsecond to last\nlast';
  writeSync(openSync(path, 'r+'), end, 10 * 1024 ** 3 - end.length);
  const before = process.memoryUsage().rss;
  const first = await tools.call('read_file', { path: 'sparse', end_line: 2 });
  t.match(first.content, { content: 'head\ntext', total_lines: null, bytes: 10 * 1024 ** 3 });
  const last = await tools.call('read_file', { path: 'sparse', start_line: -2 });
  t.match(last.content, { content: 'second to last\nlast', start_line: null });
  const range = await tools.call('read_file', { path: 'sparse', byte_offset: 10 * 1024 ** 3 - 4 });
  t.match(range.content, { content: 'last', next_byte_offset: null });
  t.ok(process.memoryUsage().rss - before < 60 * 1024 ** 2, 'memory stays flat');
});

t.test('a missing file names what is near', async (t) => {
  const tools = testTools(t, t.testdir({ src: { 'Main.ts': '' } }));
  const { error } = await tools.call('read_file', { path: 'src/main.js' });
  t.match(error, /src\/main\.js does not exist\. Similar names: src\/Main\.ts/);
  t.match(
    (await tools.call('read_file', { path: 'src/no/where.ts' })).error,
    /nearest folder that exists is src/,
  );
});

t.test('list_dir tells type, size and link, in order, level by level', async (t) => {
  const tools = testTools(
    t,
    t.testdir({
      b: { deep: { x: '1' } },
      a: 'four',
      '.h': '',
      node_modules: { m: '' },
      link: t.fixture('symlink', 'a'),
      gone: t.fixture('symlink', 'nowhere'),
      self: t.fixture('symlink', '.'),
    }),
  );
  const { content } = await tools.call('list_dir', {});
  const entries = content['entries'] as { path: string }[];
  t.strictSame(
    entries.map((entry) => entry.path),
    ['.h', 'a', 'b', 'gone', 'link', 'node_modules', 'self'],
  );
  t.match(entries[1], { type: 'file', size: 4, modified: /^\d{4}-.*Z$/ });
  t.match(entries[3], { type: 'symlink', target: 'nowhere', target_type: 'missing' });
  t.match(entries[6], { type: 'symlink', target_type: 'directory' });
  const deep = await tools.call('list_dir', { depth: 5, hidden: false });
  const paths = (deep.content['entries'] as { path: string }[]).map((entry) => entry.path);
  t.strictSame(paths, ['a', 'b', 'gone', 'link', 'node_modules', 'self', 'b/deep', 'b/deep/x']);
  t.match(deep.content['note'], /Not entered: node_modules/);
  const cut = await tools.call('list_dir', { depth: 5, limit: 2 });
  t.match(cut.content, { truncated: true, omitted: 7, total_entries: 9 });
  t.match((await tools.call('list_dir', { path: 'a' })).error, /no folder.*read_file/);
});

t.test('a listing stays within the output limit however many entries there are', async (t) => {
  const tools = testTools(t, t.testdir());
  mkdirSync(join(tools.root, 'many'));
  for (let index = 0; index < 3000; index += 1) writeFileSync(join(tools.root, 'many', `file-${index}`), '');
  const { content } = await tools.call('list_dir', { path: 'many', limit: 5000 });
  t.ok(JSON.stringify(content).length <= tools.context.limits.tool_output_bytes);
  const shown = (content['entries'] as unknown[]).length;
  t.match(content, { truncated: true, total_entries: 3000, omitted: 3000 - shown });
});
