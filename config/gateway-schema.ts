// The part of the configuration that says where clients reach a daemon, and which of them are let in.
import * as v from 'valibot';
import { choice, count, group, type Leaf, leafOf, list, showText } from './leaf.js';

const EXPECTED = 'expected an address of this machine such as http://127.0.0.1:17878';

/** The token travels in plain text, so nobody but this machine may see it. */
export function isLoopbackHost(host: string): boolean {
  return /^127(?:\.\d{1,3}){3}$/.test(host) || host === 'localhost' || host === '[::1]' || host === '::1';
}

function isLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const bare = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  return url.protocol === 'http:' && bare && isLoopbackHost(url.hostname);
}

const origin = v.pipe(
  v.string('expected an origin such as https://example.org'),
  v.check(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'expected an origin such as https://example.org, without a path',
  ),
);
const hostName = v.pipe(
  v.string('expected a host name'),
  v.regex(/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, 'expected a host name, without a port'),
);

const listen: Leaf<string> = leafOf(
  'Address of the daemon: this machine only. Port 0 takes a free one.',
  v.pipe(v.string(EXPECTED), v.check(isLoopbackUrl, EXPECTED)),
  { show: showText },
);

export const gateway = group('Where clients reach a daemon, and who is let in.', {
  listen,
  allowed_origins: list('Web pages that may connect, beside those of the daemon itself.', origin),
  allowed_hosts: list('Names by which the daemon may be called, beside those of this machine.', hostName),
  max_connections: count('Clients at once. More are refused.', { min: 1, max: 10_000 }),
  on_busy_thread: choice('What happens to a message for a thread that is at work: it waits, or is refused.', [
    'queue',
    'reject',
  ]),
});
