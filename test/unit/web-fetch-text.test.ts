// What web_fetch makes of a body: text in any charset, pages reduced to what a reader sees, binary kept aside.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import t from 'tap';
import { systemClock } from '../../shared/clock.js';
import { htmlToText } from '../../worker/tools/web/html-text.js';
import { answerText, localSite } from '../fakes/local-site.js';
import { testTools } from '../fakes/tool-context.js';

const LOCAL = ['127.0.0.1/32'];
const BASE = new URL('https://example.org/docs/page?x=1');
const read = (html: string): string => htmlToText(html, BASE).text;

t.test('a page becomes the text that a reader sees', (t) => {
  const page = `<!DOCTYPE html><HTML><head><title> A &amp; B
    </title><style>p { color: red }</style><script>if (a < b) document.write("<p>no</p>")</script></head><body>
    <!-- <p>hidden</p> --><h1>Top</h1><p>Some   <b>bold</b> text,<br>and <a href="../up?a=1&amp;b=2">a
    <i>link</i></a>; <a href="#here">none</a>, <a href="javascript:evil()">none</a> &#8212; &#x1F600; &nope; &copy</p>
    <ul><li>one<li>two <a href="https://other.example/">there</a><ol><li>first</li><li>second</li></ol></ul>
    <pre>  keep
    this</pre><p>use <code>npm ci</code></p><table><tr><th>A<th>B<tr><td>1<td>2</table><img src=x alt="a cat">
    <svg><text>no</text></svg></body></HTML>`;
  const { title, text } = htmlToText(page, BASE);
  t.equal(title, 'A & B');
  t.equal(
    text,
    [
      '# Top',
      '',
      'Some bold text,',
      'and [a link](https://example.org/up?a=1&b=2); none, none — 😀 &nope; ©',
      '',
      '- one',
      '- two [there](https://other.example/)',
      '  1. first',
      '  2. second',
      '',
      '```',
      '  keep',
      '    this',
      '```',
      '',
      'use `npm ci`',
      '',
      'A | B',
      '1 | 2',
      '',
      '[picture: a cat]',
    ].join('\n'),
  );
  t.end();
});

t.test('broken markup is read as far as it goes', (t) => {
  t.equal(read('a < b and c > d'), 'a < b and c > d');
  t.equal(read('x<p title="a > b">y'), 'x\n\ny');
  t.equal(read('x<a href="unclosed'), 'x<a href="unclosed');
  t.equal(read('x<!-- never closed'), 'x');
  t.equal(read('x<script>never closed'), 'x');
  t.equal(
    read('<a href=/x>one<a href=/y>two</b></a></div>'),
    '[one](https://example.org/x)[two](https://example.org/y)',
  );
  t.equal(read('&#0;&#xD800;&#99999999;&#150;'), '\ufffd\ufffd\ufffd–');
  t.equal(read(''), '');
  t.end();
});

t.test('markup that wants to be slow is not', (t) => {
  const started = systemClock.monotonic();
  for (const piece of [
    '<',
    '<a',
    '<a "',
    "<a b='",
    '<!--',
    '<script>',
    '<a href=x>',
    '<li><ul>',
    '&',
    '&#',
    '</',
    '<p ',
    '[<a href=y>',
  ])
    read(piece.repeat(Math.floor(1_000_000 / piece.length)));
  t.ok(systemClock.monotonic() - started < 15_000);
  t.end();
});

t.test('text is decoded by what the server, the mark or the page say', async (t) => {
  const umlauts = 'Grüße €';
  const bodies: Record<string, [type: string, body: Buffer]> = {
    utf8: ['text/plain', Buffer.from(umlauts)],
    marked: ['text/plain; charset=iso-8859-1', Buffer.from(`\ufeff${umlauts}`)],
    said: ['text/plain; charset="ISO-8859-15"', Buffer.from('Gr\xfc\xdfe \xa4', 'latin1')],
    guessed: ['text/plain', Buffer.from('Gr\xfc\xdfe \x80', 'latin1')],
    unknown: ['text/plain; charset=klingon', Buffer.from(umlauts)],
    wide: ['text/plain; charset=utf-16le', Buffer.from(umlauts, 'utf16le')],
    page: ['text/html', Buffer.from('<meta charset=windows-1252><p>Gr\xfc\xdfe \x80', 'latin1')],
    untyped: ['', Buffer.from(umlauts)],
    json: ['application/vnd.api+json', Buffer.from(JSON.stringify(umlauts))],
  };
  const { url } = await localSite(t, (request, response) => {
    const [type, body] = bodies[(request.url ?? '').slice(1)] ?? ['text/plain', Buffer.alloc(0)];
    response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body);
  });
  const tools = testTools(t, t.testdir(), { allowPrivate: LOCAL });
  for (const name of Object.keys(bodies)) {
    const { content } = await tools.call('web_fetch', { url: `${url}/${name}` });
    t.equal(content['text'], name === 'json' ? `"${umlauts}"` : umlauts, name);
  }
  t.match((await tools.call('web_fetch', { url: `${url}/page`, raw: true })).content, {
    text: /<meta charset/,
  });
  t.match((await tools.call('web_fetch', { url: `${url}/none` })).content, {
    text: '',
    bytes: 0,
    truncated: false,
  });
  const head = await tools.call('web_fetch', { url: `${url}/utf8`, method: 'HEAD' });
  t.match(head.content, { status: 200, content_type: 'text/plain' });
  t.notHas(head.content, { text: '' });
});

t.test('an error of the server is an error, with what it said', async (t) => {
  const { url } = await localSite(t, (_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"why":"gone"}');
  });
  const tools = testTools(t, t.testdir(), { allowPrivate: LOCAL });
  const { content, is_error } = await tools.call('web_fetch', { url });
  t.equal(is_error, true);
  t.match(content, { error: 'The server answered 404 Not Found', status: 404, text: '{"why":"gone"}' });
});

t.test('what cannot be shown whole is spilled into a private file', async (t) => {
  const long = Array.from({ length: 4000 }, (_, index) => `line ${index} 😀 "q"`).join('\n');
  const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01', 'latin1');
  const { url } = await localSite(t, (request, response) => {
    if (request.url === '/long') answerText(response, long, 'text/plain; charset=utf-8');
    else answerText(response, png, 'image/png');
  });
  const tools = testTools(t, t.testdir(), { allowPrivate: LOCAL });
  const cut = await tools.call('web_fetch', { url: `${url}/long` });
  const shown = String(cut.content['text']);
  t.ok(JSON.stringify(cut.content).length <= tools.context.limits.tool_output_bytes);
  t.match(shown, /^line 0 .*\[… \d+ bytes left out …\].*line 3999 😀 "q"$/su);
  t.equal(shown.isWellFormed() && !shown.includes('\ufffd'), true, 'cut between characters');
  t.match(cut.content, { truncated: true, note: /artifact holds the whole/ });
  t.equal(readFileSync(cut.spill?.path ?? '', 'utf8'), long);
  t.match(cut.spill, { bytes: Buffer.byteLength(long), mime: 'text/plain; charset=utf-8' });
  t.equal(statSync(cut.spill?.path ?? '').mode & 0o777, 0o600);
  const binary = await tools.call('web_fetch', { url: `${url}/png` });
  t.match(binary.content, { binary: true, mime: 'image/png', bytes: png.length });
  t.notHas(binary.content, { text: '' });
  t.strictSame(readFileSync(binary.spill?.path ?? ''), png);
  t.equal(readdirSync(tools.context.spoolDir).length, 2, 'nothing else is left in the spool');
});
