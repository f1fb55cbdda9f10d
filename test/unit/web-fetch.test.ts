// web_fetch against servers on this machine: where it may go, and what bounds it.
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../shared/json.js';
import { makeMasker } from '../../shared/mask.js';
import { addressRules } from '../../worker/tools/web/address-rules.js';
import { resolveBySystem } from '../../worker/tools/web/fetch-hop.js';
import { makeWebFetch } from '../../worker/tools/web-fetch.js';
import { answerText, localSite } from '../fakes/local-site.js';
import { type Called, calledOf, type TestToolOptions, testTools } from '../fakes/tool-context.js';

const LOCAL = ['127.0.0.1/32'];

function fetcher(
  t: Test,
  options: TestToolOptions = { allowPrivate: LOCAL },
): (params: JsonObject) => Promise<Called> {
  const tools = testTools(t, t.testdir(), options);
  return (params) => tools.call('web_fetch', params);
}

t.test('only public addresses may be reached, however they are written', (t) => {
  const rules = addressRules([]);
  const refused =
    '127.0.0.1 127.9.9.9 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 192.0.0.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 ' +
    '::1 :: ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1:: 2001::1 fe80::1 fe80::1%eth0 fc00::1 fd12::1 ff02::1 2001:db8::1 fec0::1 not-an-address';
  for (const address of refused.split(' ')) t.equal(rules.allows('host', address), false, address);
  for (const address of ['1.1.1.1', '93.184.216.34', '2606:4700::1111', '::ffff:1.1.1.1'])
    t.equal(rules.allows('host', address), true, address);
  const some = addressRules(['10.1.0.0/16', 'fd00::/8', '192.168.7.7', 'Intranet.Example']);
  t.equal(some.allows('x', '10.1.2.3'), true);
  t.equal(some.allows('x', '::ffff:10.1.2.3'), true);
  t.equal(some.allows('x', '10.2.0.1'), false);
  t.equal(some.allows('x', 'fd00::1'), true);
  t.equal(some.allows('x', '192.168.7.7'), true);
  t.equal(some.allows('intranet.example.', '10.9.9.9'), true);
  t.equal(some.allows('intranet.example', '0.0.0.0'), false);
  t.end();
});

t.test('a private address is refused by default in every spelling, and nothing is sent', async (t) => {
  const { url, requests } = await localSite(t, (_request, response) => answerText(response, 'secret'));
  const { port } = new URL(url);
  const fetch = fetcher(t, {});
  for (const host of [
    '127.0.0.1',
    'localhost',
    'LOCALHOST.',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '１２７.0.0.1',
  ]) {
    const { is_error, content } = await fetch({ url: `http://${host}:${port}/` });
    t.equal(is_error, true, host);
    t.match(content, { code: 'private_address', error: /security\.web\.allow_private/ }, host);
  }
  for (const bad of [
    'ftp://example.org/',
    'file:///etc/passwd',
    'http://user:pw@example.org/',
    'http://[fe80::1%25eth0]/',
    'example.org',
    'javascript:1',
  ])
    t.equal((await fetch({ url: bad })).is_error, true, bad);
  t.equal(requests.length, 0);
});

t.test('every redirect is judged, and there are five at most', async (t) => {
  const { url, requests } = await localSite(t, (request, response) => {
    const step = Number(/^\/(\d+)/.exec(request.url ?? '')?.[1] ?? 0);
    if (step > 0) response.writeHead(302, { location: step === 1 ? '/end' : `/${step - 1}` }).end();
    else if (request.url === '/private') response.writeHead(301, { location: 'http://127.0.0.2:1/' }).end();
    else if (request.url === '/file') response.writeHead(307, { location: 'file:///etc/passwd' }).end();
    else if (request.url === '/user') response.writeHead(308, { location: 'http://a:b@127.0.0.1/' }).end();
    else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else answerText(response, 'arrived');
  });
  const fetch = fetcher(t);
  const five = await fetch({ url: `${url}/5` });
  t.match(five.content, { url: `${url}/end`, status: 200, text: 'arrived' });
  t.equal((five.content['redirects'] as unknown[]).length, 5);
  t.match((await fetch({ url: `${url}/6` })).error, /More than 5 redirects/);
  t.match((await fetch({ url: `${url}/loop` })).error, /More than 5 redirects/);
  t.match((await fetch({ url: `${url}/private` })).error, /127\.0\.0\.2 is no public address/);
  t.match((await fetch({ url: `${url}/file` })).error, /redirects elsewhere: Only http and https/);
  t.match((await fetch({ url: `${url}/user` })).error, /user name or password/);
  t.equal(
    requests.every(
      (request) => request.headers.cookie === undefined && request.headers.authorization === undefined,
    ),
    true,
  );
});

t.test('the connection goes to the address that was judged, whatever the name says later', async (t) => {
  const { url, requests } = await localSite(t, (_request, response) => answerText(response, 'here'));
  const { port } = new URL(url);
  const tools = testTools(t, t.testdir(), { allowPrivate: LOCAL });
  const answers = [[{ address: '127.0.0.1', family: 4 }], [{ address: '10.0.0.1', family: 4 }]];
  let asked = 0;
  const fetch = makeWebFetch(() => Promise.resolve(answers[asked++] ?? []));
  const first = calledOf(await fetch({ url: `http://rebind.example:${port}/` }, tools.context));
  t.match(first.content, { text: 'here' });
  t.equal(asked, 1, 'the name is asked for once');
  t.equal(requests[0]?.headers.host, `rebind.example:${port}`);
  const second = calledOf(await fetch({ url: `http://rebind.example:${port}/` }, tools.context));
  t.match(second.error, /rebind\.example \(10\.0\.0\.1\) is no public address/);
  const mixed = makeWebFetch(() =>
    Promise.resolve([
      { address: '10.0.0.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]),
  );
  t.match(calledOf(await mixed({ url: `http://x.example:${port}/` }, tools.context)).content, {
    text: 'here',
  });
  t.match(await resolveBySystem('localhost'), [{ address: /^(127\.0\.0\.1|::1)$/ }]);
});

t.test('a body is read up to the limit, compressed or not, in flat memory', async (t) => {
  const mega = Buffer.alloc(1024 * 1024, 'a');
  const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024, 'a'), { level: 9 });
  const { url } = await localSite(t, (request, response) => {
    response.on('error', () => undefined);
    if (request.url === '/bomb') {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(bomb);
    } else if (request.url === '/endless') {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (!response.destroyed && response.write(mega));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    } else answerText(response, mega.subarray(0, 5000));
  });
  const fetch = fetcher(t);
  const before = process.memoryUsage().rss;
  for (const path of ['/bomb', '/endless']) {
    const { content, is_error } = await fetch({ url: `${url}${path}` });
    t.equal(is_error, false);
    t.match(
      content,
      { bytes: 256 * 1024, truncated: true, note: /limit of bytes was reached after 262144 bytes/ },
      path,
    );
  }
  t.ok(process.memoryUsage().rss - before < 64 * 1024 ** 2, 'memory stays flat');
  t.match((await fetch({ url: `${url}/some`, max_bytes: 10 })).content, {
    bytes: 10,
    text: 'a'.repeat(10),
    truncated: true,
  });
  t.match((await fetch({ url: `${url}/some`, max_bytes: 1e9 })).content, { bytes: 5000, truncated: false });
});

t.test('every compression that is offered is understood, and broken ones are told', async (t) => {
  const body = Buffer.from('the body');
  const forms: Record<string, [coding: string, bytes: Buffer]> = {
    gzip: ['gzip', gzipSync(body)],
    deflate: ['deflate', deflateSync(body)],
    raw: ['deflate', deflateRawSync(body)],
    br: ['br', brotliCompressSync(body)],
    twice: ['gzip, br', brotliCompressSync(gzipSync(body))],
    odd: ['zstd', body],
    broken: ['gzip', Buffer.from('no gzip at all')],
  };
  const { url } = await localSite(t, (request, response) => {
    const [coding, bytes] = forms[(request.url ?? '').slice(1)] ?? ['identity', body];
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': coding }).end(bytes);
  });
  const fetch = fetcher(t);
  for (const form of ['gzip', 'deflate', 'raw', 'br', 'twice', 'plain'])
    t.match(
      (await fetch({ url: `${url}/${form}` })).content,
      { text: 'the body', bytes: 8, truncated: false },
      form,
    );
  t.match((await fetch({ url: `${url}/odd` })).error, /compressed in a way that is not understood/);
  t.match((await fetch({ url: `${url}/broken` })).error, /compression is broken/);
});

t.test('slow, huge and broken answers end with a sentence', { timeout: 30_000 }, async (t) => {
  const sockets = new Set<Socket>();
  const raw = createRawServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      const path = /^GET (\S+)/.exec(data.toString())?.[1];
      if (path === '/headers') {
        socket.write('HTTP/1.1 200 OK\r\n');
        const drip = (): void => {
          if (!socket.destroyed)
            socket.write(`x-${sockets.size}: ${'y'.repeat(1000)}\r\n`, () => setImmediate(drip));
        };
        drip();
      } else if (path === '/silent') socket.write('HTTP/1.1 200 OK\r\nx: ');
      else if (path === '/half')
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nbegin');
      else if (path === '/broken')
        socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nbegin');
      else if (path === '/other') socket.end('SSH-2.0-OpenSSH\r\n');
      else socket.destroy();
    });
  });
  raw.listen(0, '127.0.0.1');
  await new Promise((resolve) => raw.once('listening', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    raw.close();
  });
  const base = `http://127.0.0.1:${(raw.address() as AddressInfo).port}`;
  const fetch = fetcher(t, { allowPrivate: LOCAL, limits: { fetch_ms: 400 } });
  t.match((await fetch({ url: `${base}/headers` })).error, /headers of the answer are larger/);
  t.match((await fetch({ url: `${base}/silent` })).content, { code: 'timeout', error: /within 400 ms/ });
  t.match((await fetch({ url: `${base}/half` })).content, {
    text: 'begin',
    truncated: true,
    note: /limit of time/,
  });
  t.match((await fetch({ url: `${base}/broken` })).content, {
    text: 'begin',
    truncated: true,
    note: /broke off/,
  });
  t.match((await fetch({ url: `${base}/other` })).error, /no valid HTTP/);
  t.match((await fetch({ url: `${base}/reset` })).error, /closed the connection before it answered/);
  raw.close();
  t.match((await fetch({ url: 'http://127.0.0.1:1/' })).error, /refused the connection/);
});

t.test('a fetch ends with its turn', async (t) => {
  const { url } = await localSite(t, () => tools.abort());
  const tools = testTools(t, t.testdir(), { allowPrivate: LOCAL });
  t.match((await tools.call('web_fetch', { url })).error, /Interrupted/);
});

t.test('secrets of the installation are never sent, and those of others not shown', async (t) => {
  const { url, requests } = await localSite(t, (request, response) => {
    if (request.url === '/r') response.writeHead(302, { location: '/x?a=s3cr3t%2Dvalue' }).end();
    else answerText(response, 'ok');
  });
  const fetch = fetcher(t, { allowPrivate: LOCAL, context: { mask: makeMasker(['s3cr3t-value']) } });
  for (const path of ['/?a=s3cr3t-value', '/s3cr3t%2dvalue', '/r'])
    t.match((await fetch({ url: `${url}${path}` })).error, /contains a secret of this installation/, path);
  t.equal(requests.filter((request) => /s3cr3t/.test(request.url ?? '')).length, 0);
  const shown = await fetch({ url: `${url}/p?page=2&access_token=abc&q=one+two&x=${'k3Y'.repeat(12)}#part` });
  t.equal(shown.content['url'], `${url}/p?page=2&access_token=***&q=one+two&x=***`);
  t.equal(requests.at(-1)?.url, `/p?page=2&access_token=abc&q=one+two&x=${'k3Y'.repeat(12)}`);
});
