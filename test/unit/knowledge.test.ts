// Looking up reference texts: which words count, which passages come first, what is not read, and what a search server
// may do wrong.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { SearchHit, SearchOrder } from '../../shared/ipc/search.js';
import { Ranking } from '../../worker/knowledge/ranking.js';
import { searchKnowledge } from '../../worker/knowledge/search-knowledge.js';
import { searchWords } from '../../worker/knowledge/words.js';

function search(
  place: SearchOrder['place'],
  query: string,
  change: Partial<SearchOrder> = {},
): Promise<SearchHit[]> {
  const order = { place, query, top: 5, bytes: 16_384, time_ms: 5_000, ...change };
  return searchKnowledge(order, systemClock, new AbortController().signal);
}

t.test('the words of a question are those that say what it is about, form aside', (t) => {
  t.same(searchWords('How do I restart the deployment of Müller-Web?', 9), [
    'restar',
    'deploy',
    'müller',
    'web',
  ]);
  t.same(searchWords('Deployed deployments: deploying!', 9), ['deploy'], 'forms of one word meet');
  t.same(searchWords('数据库备份', 9), ['数据', '据库', '库备', '备份'], 'pairs where there are no spaces');
  t.same(searchWords('the of and', 9), []);
  t.equal(searchWords('one1 two2 three3 four4', 2).length, 2);
  t.end();
});

t.test('what is rare and often there comes first, and length does not win', (t) => {
  const ranking = new Ranking(searchWords('rollback deploy', 9));
  for (let index = 0; index < 20; index += 1) ranking.add(`noise${index}`, 'How we deploy things.');
  ranking.add('long', `rollback ${'deploy this and that '.repeat(40)}`);
  ranking.add('short', 'A rollback undoes a deploy.');
  ranking.add('other', 'Nothing of it.');
  const best = ranking.best(3).map(({ source }) => source);
  t.equal(best[0], 'short');
  t.equal(best[1], 'long');
  t.notOk(ranking.best(99).some(({ source }) => source === 'other'));
  t.end();
});

t.test('a folder is searched by passages; what is no text of the folder is not', async (t) => {
  const root = t.testdir({
    'handbook.md': `# Handbook\n\n${'Filler without it. '.repeat(62)}\n\nThe canary host is rebooted on Monday.`,
    sub: { 'note.txt': 'canary host', '.gitignore': 'secret.txt\n', 'secret.txt': 'canary host canary host' },
    '.git': { config: 'canary host' },
    node_modules: { 'x.md': 'canary host' },
    'blob.bin': Buffer.from([0, 1, 2, ...Buffer.from('canary host')]),
  });
  writeFileSync(join(root, 'huge.txt'), `canary host ${'x'.repeat(1024 * 1024)}`);
  mkdirSync(join(root, '..', 'outside'), { recursive: true });
  writeFileSync(join(root, '..', 'outside', 'far.md'), 'canary host');
  symlinkSync('../outside', join(root, 'link'));
  const hits = await search({ kind: 'files', root }, 'When is the canary host rebooted?');
  t.same(hits.map(({ source }) => source).sort(), ['handbook.md', 'sub/note.txt']);
  const found = hits.find(({ source }) => source === 'handbook.md');
  t.equal(found?.text, 'The canary host is rebooted on Monday.', 'only the passage');
});

t.test('hits stay within their number and their bytes', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`f${index}.txt`, `needle ${'ä'.repeat(300)}`]),
  );
  const root = t.testdir(files);
  t.equal((await search({ kind: 'files', root }, 'needle', { top: 3 })).length, 3);
  const cut = await search({ kind: 'files', root }, 'needle', { bytes: 1_000 });
  const bytes = cut.reduce((sum, { source, text }) => sum + Buffer.byteLength(source + text), 0);
  t.ok(bytes <= 1_000 && bytes > 900, `${bytes}`);
  t.same(await search({ kind: 'files', root }, 'the of'), [], 'nothing to look for');
});

async function server(
  t: Test,
  answer: (response: ServerResponse, body: string, request: IncomingMessage) => void,
): Promise<string> {
  const http = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8');
    });
    request.on('end', () => answer(response, body, request));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/search`;
}

t.test('a search server is asked once, with its token, and its texts are made sendable', async (t) => {
  const seen: unknown[] = [];
  const url = await server(t, (response, body, { headers, method }) => {
    seen.push([method, headers.authorization, JSON.parse(body)]);
    response.end(
      JSON.stringify({
        hits: [
          { source: 'a\nb', text: ' one\0 \ud800 ', score: 1 },
          { source: 'c', text: '' },
        ],
      }),
    );
  });
  const hits = await search({ kind: 'server', url, token: 'key' }, 'what?', { top: 2 });
  t.same(seen, [['POST', 'Bearer key', { query: 'what?', top: 2 }]]);
  t.equal(hits.length, 1);
  t.equal(hits[0]?.source, 'a b');
  t.notMatch(hits[0]?.text, /\0|\ud800/);
});

t.test('a search server that fails is told in words of ours, in time', async (t) => {
  const cases: [string, (response: ServerResponse) => void, RegExp][] = [
    ['status', (response) => response.writeHead(500).end('canary'), /answered 500/],
    [
      'redirect',
      (response) => response.writeHead(302, { location: 'http://elsewhere' }).end(),
      /answered 302/,
    ],
    ['garbage', (response) => response.end('canary'), /something else/],
    ['wrong form', (response) => response.end('{"hits":[{"text":1}]}'), /something else/],
    ['broken off', (response) => response.write('{"h', () => response.destroy()), /broke off/],
    ['too large', (response) => response.end(`"${'x'.repeat(2 * 1024 * 1024)}"`), /reached|broke off/],
    ['silent', () => undefined, /in time/],
  ];
  for (const [name, answer, words] of cases)
    await t.test(name, async (t) => {
      const url = await server(t, answer);
      const failed = await search({ kind: 'server', url }, 'q', { time_ms: 300 }).catch(
        (error: Error) => error,
      );
      t.match(failed, { message: words });
      t.notMatch(failed, { message: /canary/ });
    });
});

t.test('a folder that is not there is a failure, not nothing', async (t) => {
  await t.rejects(search({ kind: 'files', root: join(t.testdir({}), 'none') }, 'words'));
});
