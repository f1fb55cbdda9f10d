// One request, to an address that was judged after its name was resolved, and to no other: the connection uses the very
// address that was looked at, so a name cannot point elsewhere a moment later.
import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ToolFailure } from '../files/tool-failure.js';
import { type AddressRules, plainHost } from './address-rules.js';

/** All addresses of a name. */
export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

export const resolveBySystem: ResolveHost = (host) => systemLookup(host, { all: true, verbatim: true });

export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD';
  readonly rules: AddressRules;
  readonly resolve: ResolveHost;
  readonly signal: AbortSignal;
}

const HEADER_BYTES_MAX = 32 * 1024;

const HEADERS = {
  accept: 'text/html,application/xhtml+xml,application/json,text/plain;q=0.9,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br',
  'accept-language': 'en,*;q=0.5',
  'user-agent': 'turnd',
  connection: 'close',
};

/** Resolves with the head of the response; its body must be read or destroyed. Rejects with a ToolFailure. */
export async function fetchHop(hop: Hop): Promise<IncomingMessage> {
  const { url, rules, signal } = hop;
  const host = plainHost(url.hostname);
  if (isIP(host) !== 0 && !rules.allows(host, host)) throw refusedAddress(host, [host]);
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestSecure : requestPlain;
    const request = send({
      host,
      port: url.port === '' ? undefined : Number(url.port),
      path: `${url.pathname}${url.search}`,
      method: hop.method,
      headers: { ...HEADERS, host: url.host },
      ...(isIP(host) === 0 ? { servername: host } : {}),
      agent: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      lookup: judgedLookup(hop),
      signal,
    });
    request.on('response', (response) => {
      // What happens to the body later is told by reading it.
      response.on('error', () => undefined);
      resolve(response);
    });
    request.on('error', (error) => reject(signal.aborted ? error : connectionFailure(error, url)));
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new ToolFailure('The server wants another protocol than HTTP; this cannot be fetched.'));
    });
    request.end();
  });
}

function judgedLookup({ rules, resolve }: Hop): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => rules.allows(host, address));
        const [first] = allowed;
        if (first === undefined) {
          callback(
            refusedAddress(
              host,
              addresses.map(({ address }) => address),
            ),
            '',
          );
        } else if (options.all === true) callback(null, [...allowed]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) =>
        callback(error instanceof Error ? error : new ToolFailure('The name lookup failed.'), ''),
    );
  };
}

function refusedAddress(host: string, addresses: readonly string[]): ToolFailure {
  const which = addresses.length === 0 ? 'no address' : addresses.slice(0, 4).join(', ');
  const named = addresses[0] === host ? host : `${host} (${which})`;
  return new ToolFailure(
    `${named} is no public address, and such are not reached. The operator can allow it in security.web.allow_private.`,
    { code: 'private_address' },
  );
}

const SENTENCES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name does not exist; check the spelling',
  ENODATA: 'The host name has no address',
  EAI_AGAIN: 'The name lookup failed: no network, or the name server does not answer',
  ECONNREFUSED: 'The server refused the connection: nothing listens there',
  ECONNRESET: 'The server closed the connection before it answered',
  EPIPE: 'The server closed the connection before it answered',
  ETIMEDOUT: 'The server could not be reached in time',
  EHOSTUNREACH: 'The server cannot be reached from here',
  ENETUNREACH: 'There is no network to reach the server',
  HPE_HEADER_OVERFLOW: `The headers of the answer are larger than ${HEADER_BYTES_MAX} bytes`,
};
const TLS_CODE = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

function connectionFailure(error: Error, url: URL): ToolFailure {
  if (error instanceof ToolFailure) return error;
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  const code = [error, inner]
    .map((one) => (one !== undefined && 'code' in one ? String(one.code) : ''))
    .find(Boolean);
  const details = { code: code ?? 'unknown' };
  const host = url.host.slice(0, 200);
  if (code === undefined) return new ToolFailure(`${host}: the connection failed.`, details);
  if (TLS_CODE.test(code))
    return new ToolFailure(`${host}: the secure connection failed (${code}).`, details);
  if (code.startsWith('HPE_') && SENTENCES[code] === undefined)
    return new ToolFailure(`${host}: the answer is no valid HTTP (${code}).`, details);
  return new ToolFailure(`${host}: ${SENTENCES[code] ?? `The connection failed (${code})`}.`, details);
}
