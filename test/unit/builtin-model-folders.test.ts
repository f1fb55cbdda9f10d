// "Summarise this folder" on real folders with the real tools: what it says must be true of any folder.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../shared/json.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import { type Played, playBuiltin } from '../fakes/builtin-turn.js';
import { shellContext } from '../fakes/shell-context.js';

type Files = Readonly<Record<string, string | Buffer>>;

/** A folder with these files; names that end in `/` are empty folders. */
function folderOf(t: Test, files: Files): string {
  const root = mkdtempSync(join(tmpdir(), 'turnd-builtin-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'work');
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(name.endsWith('/') ? path : dirname(path), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(path, content);
  }
  return folder;
}

function play(
  folder: string,
  text: string,
  intercept?: (tool: string, args: JsonObject) => ToolResult | null,
): Promise<Played> {
  const context = {
    ...shellContext(dirname(folder), { tool_output_bytes: 64 * 1024 }),
    workspaceRoot: folder,
  };
  return playBuiltin(text, context, intercept === undefined ? {} : { intercept });
}

const SUMMARISE = 'Summarise this folder';

const PROJECT: Files = {
  'README.md':
    '[![build](https://x/y.svg)](https://x)\n\n# Kettle\n\n<p align="center"><img src="a.png"></p>\n\n> A note.\n\nKettle boils **water** for [tea](https://tea).\nIt is small.\n\n## Install\n\nnpm i\n',
  'package.json': JSON.stringify({
    name: 'kettle',
    version: '2.1.0',
    description: 'Boils water',
    bin: { kettle: 'bin/k.js' },
    scripts: { test: 'x', build: 'y' },
  }),
  LICENSE: 'MIT',
  'src/main.ts': `export const x = 1;\n${'// more\n'.repeat(100)}`,
  'src/heat.ts': 'export function heat() {}\n',
  'tools/gen.py': 'print(1)\n',
  'test/main.test.ts': 'test\n',
  'node_modules/dep/index.js': 'x'.repeat(5_000),
  '.git/HEAD': 'ref: x\n',
  'dist/out.js': 'built\n',
  Makefile: 'all: build\n\nbuild:\n\tcc\n\nVAR := 1\n',
};

t.test('a project is summarised by what is in it and what its README says', async (t) => {
  const { reply, rounds } = await play(folderOf(t, PROJECT), SUMMARISE);
  t.match(
    reply,
    /^This folder holds 8 files and 6 folders, .* in all, not counting what is in \.git\/, dist\/ and node_modules\/\./,
  );
  t.match(
    reply,
    /What it is, by `README\.md` \("Kettle"\):\n\n {4}Kettle boils water for tea\. It is small\.\n/,
  );
  t.match(
    reply,
    /`package\.json`: npm package kettle 2\.1\.0\. "Boils water"\n- commands: kettle\n- `npm run`: test and build/,
  );
  t.match(reply, /- `make`: all and build/);
  t.match(reply, /Languages +TypeScript \d+% in 3 files, /);
  t.match(reply, /Python \d+% in 1 file/);
  t.match(reply, /Biggest +src\/main\.ts \(\d+ bytes\)/);
  t.match(reply, /Licence +LICENSE/);
  t.match(reply, /Tests +test\//);
  t.match(reply, /Ways in +src\/main\.ts/);
  t.ok(rounds <= 4, 'in few rounds');
});

t.test('an empty folder is said to be empty, and nothing else', async (t) => {
  const { reply } = await play(folderOf(t, {}), SUMMARISE);
  t.match(reply, /^This folder is empty\.\n\n—/);
});

t.test('a folder of binaries is told by kinds and sizes, without a README', async (t) => {
  const bytes = Buffer.alloc(3_000, 0);
  const { reply } = await play(
    folderOf(t, { 'a.png': bytes, 'b.png': bytes, 'c.zip': bytes, tool: bytes }),
    SUMMARISE,
  );
  t.match(reply, /^This folder holds 4 files, 12 KB in all\.\n\nThere is no README\./);
  t.match(reply, /Kinds +images 2 files \(6\.0 KB\), archives 1 file \(3\.0 KB\), other 1 file/);
  t.notMatch(reply, /Languages/);
});

t.test(
  'more files than a listing holds cost few calls, and the answer says that it saw a part',
  async (t) => {
    const folder = folderOf(t, {});
    for (let index = 0; index < 3_000; index += 1) writeFileSync(join(folder, `f${index}.txt`), '');
    const { reply, calls } = await play(folder, SUMMARISE);
    t.ok(calls.length <= 3, `${calls.length} calls`);
    t.match(
      reply,
      /^This folder holds at least 3,000 entries\. What follows is from the [\d,]+ entries that were listed:/,
    );
    t.match(reply, /Too many entries to list all: the folder itself\./);
    t.ok(reply.length < 4_000, 'and stays short');
  },
);

t.test('a very deep or wide tree is walked within bounds, and the rest is counted as not seen', async (t) => {
  const deep = folderOf(t, { [`${'d/'.repeat(40)}end.txt`]: 'x' });
  const down = await play(deep, SUMMARISE);
  t.match(down.reply, /holds at least/);
  t.match(down.reply, /Stopped there: 1 deeper folder not looked into, so the counts are lower bounds\./);
  const files: Record<string, string> = {};
  for (let index = 0; index < 300; index += 1) files[`dir${index}/file.txt`] = 'x';
  const wide = await play(folderOf(t, files), SUMMARISE);
  t.ok(wide.rounds <= 10 && wide.calls.length <= 130, `${wide.rounds} rounds, ${wide.calls.length} calls`);
  t.match(wide.reply, /at least \d+ files and 300 folders/);
});

t.test('names of any script are shown, and names that trick a terminal are made visible', async (t) => {
  const { reply } = await play(
    folderOf(t, { '説明.md': '# 題\n', 'Übung.py': 'x = 1\n', 'a\u001b[31mred\nline.txt': 'x' }),
    SUMMARISE,
  );
  t.match(reply, /Übung\.py/);
  t.match(reply, /説明\.md/);
  t.match(reply, /a\\u\{1b\}\[31mred\\u\{a\}line\.txt/);
  t.notOk(reply.includes('\u001b'), 'no escape reaches the terminal');
});

t.test('a README that says nothing in prose is not made to say something', async (t) => {
  const { reply } = await play(
    folderOf(t, {
      'README.md':
        '# Bare\n\n- first of two things\n- the other thing\n\n| a table | of words |\n\n```\ncode is no prose\n```\n',
    }),
    SUMMARISE,
  );
  t.match(reply, /`README\.md` is titled "Bare" and says no more in prose\./);
  t.notMatch(reply, /code is no prose/);
  const cjk = await play(
    folderOf(t, { 'README.md': '# 茶\n\nこれはお湯を沸かす小さな道具です。\n' }),
    SUMMARISE,
  );
  t.match(cjk.reply, /これはお湯を沸かす小さな道具です。/);
  const binary = await play(folderOf(t, { 'README.md': Buffer.from([0, 1, 2, 255]) }), SUMMARISE);
  t.match(binary.reply, /`README\.md` could not be read: it is no text\./);
});

t.test('a folder that cannot be listed is named with the reason, and the rest is told', async (t) => {
  const folder = folderOf(t, { 'a.txt': 'x', 'shut/secret.txt': 'x' });
  const { reply } = await play(folder, SUMMARISE, (tool, args) =>
    tool === 'list_dir' && args['path'] === 'shut' ? toolError('permission denied') : null,
  );
  t.match(reply, /^This folder holds at least 1 file and 1 folder/);
  t.match(reply, /Could not be listed: shut\/ \(permission denied\)\./);
});

t.test('links are counted and not followed, so a circle of them ends', async (t) => {
  const folder = folderOf(t, { 'in/a.txt': 'x' });
  symlinkSync('..', join(folder, 'in/up'));
  const { reply } = await play(folder, SUMMARISE);
  t.match(reply, /^This folder holds 1 file, 1 folder and 1 link, 1 byte in all\./);
});

t.test('whether a name is a file or a folder is found out, not assumed', async (t) => {
  const folder = folderOf(t, {
    notes: 'First line\nof notes\n',
    'v1.2/a.txt': 'x',
    'src/b.rs': 'fn main() {}\n',
  });
  t.match((await play(folder, 'summarise notes')).reply, /^`notes` is a text: 2 lines, 20 bytes\./);
  t.match((await play(folder, 'summarise v1.2')).reply, /^`v1\.2` holds 1 file, 1 byte in all\./);
  t.match((await play(folder, 'what is in the src folder?')).reply, /^`src` holds 1 file, 13 bytes in all\./);
  t.match((await play(folder, 'summarise nowhere')).reply, /^`nowhere` could not be summarised: \S.*\./);
});

t.test('a file is summarised by its type', async (t) => {
  const folder = folderOf(t, {
    'a.ts':
      '// Keeps the kettle warm.\n// Slowly.\nimport x from "x";\n\nexport function warm(a: number) {}\nexport class Pot {}\nconst inner = 1;\n',
    'b.py':
      '#!/usr/bin/env python3\n"""Pours tea."""\n\nclass Cup:\n    def hidden(self): pass\n\ndef pour():\n    pass\n',
    'c.json': '{"name": "x", "list": [1]}',
    'd.csv': 'city,size\nUlm,1\nBonn,2\n',
    'e.md': '# Title\n\nSome real words here.\n\n## Part\n\n### Sub\n',
    'f.txt': '',
    'g.bin': Buffer.from([0, 1, 2, 3]),
  });
  const reply = async (name: string): Promise<string> => (await play(folder, `summarise ${name}`)).reply;
  t.match(
    await reply('a.ts'),
    /is TypeScript source: 7 lines, .*\n\nIts first comment: Keeps the kettle warm\. Slowly\.\n\nDefines: warm, Pot\./,
  );
  t.match(await reply('b.py'), /Python source.*\n\nIts first comment: Pours tea\.\n\nDefines: Cup, pour\./);
  t.match(await reply('c.json'), /a JSON file.*\n\nKeys: name, list\./);
  t.match(await reply('d.csv'), /a table.*\n\nColumns: city, size\. 2 rows below the first\./);
  t.match(
    await reply('e.md'),
    /Title: Title\n\nIt begins: Some real words here\.\n\nHeadings:\n- Title\n {2}- Part\n {4}- Sub/,
  );
  t.match(await reply('f.txt'), /^`f\.txt` is empty\./);
  t.match(await reply('g.bin'), /^`g\.bin` is no text file.*4 bytes\./);
});

t.test('list, read, search, find and write do what they say', async (t) => {
  const folder = folderOf(t, { 'src/a.ts': 'one\nTODO two\nthree\n', 'src/b.ts': 'x.y\n', 'c.md': 'todo\n' });
  const reply = async (text: string): Promise<string> => (await play(folder, text)).reply;
  t.match(
    await reply('list src'),
    /^`src` holds 2 files and 0 folders:\n\n```\na\.ts {2}19 bytes\nb\.ts {2}4 bytes\n```/,
  );
  t.match(await reply('list everything recursively'), /src\/a\.ts {2}19 bytes/);
  t.match(
    await reply('read src/a.ts'),
    /^`src\/a\.ts`, 3 lines, 19 bytes:\n\n```\none\nTODO two\nthree\n```/,
  );
  t.match(await reply('read src/a.ts lines 2-3'), /lines 2–3 of 3:\n\n```\nTODO two\nthree\n```/);
  t.match(await reply('show the last 1 line of src/a.ts'), /```\nthree\n```/);
  t.match(await reply('read src/a.ts and c.md'), /`src\/a\.ts`[\s\S]*`c\.md`/);
  t.match(await reply('read gone.txt'), /^`gone\.txt` could not be read: \S/);
  t.match(
    await reply('search for TODO'),
    /^1 line matches `TODO`, in 1 file:\n\n```\nsrc\/a\.ts:2: TODO two\n```/,
  );
  t.match(await reply('search for TODO ignoring case'), /^2 lines match `TODO`, in 2 files/);
  t.match(await reply('search for "x.y" in src'), /src\/b\.ts:1: x\.y/);
  t.match(await reply('search for "x+y"'), /^Nothing matches `x\+y`, in \d+ files\./);
  t.match(await reply('search for /^t.*e$/ in src'), /src\/a\.ts:3: three/);
  t.match(await reply('find files *.ts'), /^2 files match `\*\.ts`:\n\n```\nsrc\/a\.ts\nsrc\/b\.ts\n```/);
  t.match(await reply('write "hello you" to new/n.txt'), /^Wrote `new\/n\.txt` \(1 line, 9 bytes\)\./);
  t.match(await reply('read new/n.txt'), /```\nhello you\n```/);
  t.match(
    await reply('write other to new/n.txt'),
    /^Wrote `new\/n\.txt` \(1 line, 5 bytes, in place of what was there\)\./,
  );
});

t.test('a search that stopped early never claims that there is nothing', async (t) => {
  const folder = folderOf(t, { 'a.ts': 'x' });
  const stopped = (content: JsonObject) => (): ToolResult => ({ content, is_error: false });
  const early = { matches: [], truncated: true, cut_by: 'time', note: 'Not all files were searched.' };
  const searched = await play(folder, 'search for y', stopped(early));
  t.match(
    searched.reply,
    /^No match for `y` was found, but not everything was searched\.\n\nThe tool notes: Not all files/,
  );
  const found = await play(folder, 'find *.md', stopped({ files: [], truncated: true }));
  t.match(found.reply, /^No file like `\*\.md` was found, but not every folder was looked into\./);
});
